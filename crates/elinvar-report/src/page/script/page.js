/* A link to a folded figure unfolds it; so does printing. */
const unfold = () => {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const folded = target && target.closest("details:not([open])");
  if (folded) { folded.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", unfold);
unfold();
let opened = [];
addEventListener("beforeprint", () => {
  opened = all("details:not([open])");
  opened.forEach((d) => { d.open = true; });
});
addEventListener("afterprint", () => opened.forEach((d) => { d.open = false; }));

all("[data-copy]").forEach((button) => {
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } catch {
      getSelection().selectAllChildren(text);
    }
  });
});
