// Runs before the first paint: the colours that were chosen here before.
(() => {
  try {
    const theme = localStorage.getItem("deepoj:theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // storage is forbidden: the system's colours are used
  }
})();
