// Dragging cards by mouse, pen or finger.

import { move } from "./actions";
import { h, root } from "./dom";
import { name, select, store } from "./store";

const FAR = 6; // pixels after which a press is a drag
const HOLD = 300; // milliseconds after which a finger drags instead of scrolling
const EDGE = 48; // pixels from the side where the board scrolls

export function dragFrom(event: PointerEvent, who: number): void {
  if (event.button !== 0) return;
  const start = { x: event.clientX, y: event.clientY };
  const touch = event.pointerType === "touch";
  let ghost: HTMLElement | null = null;
  let held = !touch;
  let over: HTMLElement | null = null;
  const timer = touch ? window.setTimeout(() => ((held = true), lift(start.x, start.y)), HOLD) : 0;

  function lift(x: number, y: number): void {
    if (ghost) return;
    ghost = h("div", { class: "ghost", "aria-hidden": "true" }, name(who));
    root().append(ghost);
    root().classList.add("dragging");
    follow(x, y);
  }

  function follow(x: number, y: number): void {
    ghost!.style.setProperty("transform", `translate(${x + 8}px, ${y + 8}px)`);
    const column = document.elementFromPoint(x, y)?.closest<HTMLElement>(".column") ?? null;
    if (column !== over) {
      over?.classList.remove("target");
      column?.classList.add("target");
      over = column;
    }
    const board = document.getElementById("board");
    const box = board?.getBoundingClientRect();
    if (board && box) board.scrollLeft += x > box.right - EDGE ? 12 : x < box.left + EDGE ? -12 : 0;
  }

  function onMove(next: PointerEvent): void {
    const far = Math.hypot(next.clientX - start.x, next.clientY - start.y) > FAR;
    if (!held && far) return end(); // an immediate move of a finger scrolls
    if (held && far) lift(next.clientX, next.clientY);
    if (ghost) {
      follow(next.clientX, next.clientY);
      next.preventDefault();
    }
  }

  function onUp(next: PointerEvent): void {
    const target = over;
    const dragged = ghost !== null;
    end();
    if (!dragged) return;
    // Ignore the click that follows a drag.
    window.addEventListener("click", (click) => click.stopPropagation(), { capture: true, once: true });
    setTimeout(() => window.dispatchEvent(new Event("click")));
    select(who);
    if (target && next.type === "pointerup") void move(who, Number(target.dataset.cluster));
  }

  function onKey(next: KeyboardEvent): void {
    if (next.key === "Escape") end();
  }

  const noScroll = (next: TouchEvent) => ghost && next.preventDefault();

  function end(): void {
    window.clearTimeout(timer);
    ghost?.remove();
    ghost = null;
    over?.classList.remove("target");
    over = null;
    root().classList.remove("dragging");
    window.removeEventListener("pointermove", onMove);
    window.removeEventListener("pointerup", onUp);
    window.removeEventListener("pointercancel", onUp);
    window.removeEventListener("keydown", onKey, true);
    window.removeEventListener("touchmove", noScroll);
  }

  if (store.state.locked.includes(who)) return;
  window.addEventListener("pointermove", onMove);
  window.addEventListener("pointerup", onUp);
  window.addEventListener("pointercancel", onUp);
  window.addEventListener("keydown", onKey, true);
  window.addEventListener("touchmove", noScroll, { passive: false });
}
