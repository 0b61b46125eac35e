// The element of the explorer, if this is its page.

export const address = (): HTMLElement | null => document.getElementById("equigraph-explore");
