// The element of the page that is the explorer's, if this is its page.

export const address = (): HTMLElement | null => document.getElementById("equigraph-explore");
