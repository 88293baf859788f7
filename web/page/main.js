import { ask, LibraryError, startEngine } from "./engine.js";
import { byId, h, hideTip, inFrame, put, sign } from "./dom.js";
import { forgetTheme } from "./colours.js";
import { drawControls } from "./controls.js";
import { onState, readFragment, startState, state, update, views } from "./state.js";
import { playView } from "./view_play.js";
import { costView } from "./view_cost.js";
import { networkView } from "./view_network.js";
import { compareView } from "./view_compare.js";
import { proofView } from "./view_proof.js";
import { learnView } from "./view_learn.js";
import { drawTour, tours } from "./tours.js";

const makers = {
  play: playView,
  cost: costView,
  network: networkView,
  compare: compareView,
  proof: proofView,
  learn: learnView,
};
let current = null;
let pending = new Set();

function showFault(error) {
  const fault = byId("fault");
  const view = byId("view");
  fault.hidden = !error;
  view.classList.toggle("stale", Boolean(error));
  if (!error) return;
  if (!(error instanceof LibraryError)) console.error(error);
  fault.textContent = error.message;
}

// Brings the page to the state. Changes of one frame are shown together.
const render = inFrame(async () => {
  const changed = pending;
  pending = new Set();
  const begun = performance.now();
  drawTabs();
  drawControls();
  document.body.dataset.view = state.view;
  if (current?.name !== state.view) {
    current?.view.close?.();
    hideTip();
    const view = makers[state.view]();
    current = { name: state.view, view };
    put(byId("view"), view.element);
    changed.add("view");
  }
  drawTour();
  const { view } = current;
  try {
    await view.change(changed);
    if (current.view === view) showFault(null);
  } catch (error) {
    if (current.view === view) showFault(error);
  }
  // For tests and for the curious: how long the last change took until it was shown.
  document.body.dataset.took = (performance.now() - begun).toFixed(1);
  document.body.dataset.shown = String(Number(document.body.dataset.shown ?? 0) + 1);
});

function drawTabs() {
  const tabs = byId("tabs");
  if (tabs.childElementCount === 0) {
    tabs.append(
      ...views.map(([key, words, title], i) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${key}`,
            title: `${title} (${i + 1})`,
            "aria-controls": "view",
            onclick: () => update({ view: key }, { replace: false }),
          },
          words,
        ),
      ),
    );
    tabs.addEventListener("keydown", (event) => {
      const at = views.findIndex(([key]) => key === state.view);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      const [key] = views[(to + views.length) % views.length];
      update({ view: key }, { replace: false });
      byId(`tab-${key}`).focus();
    });
  }
  for (const [key, words] of views) {
    const tab = byId(`tab-${key}`);
    const chosen = key === state.view;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) byId("view").setAttribute("aria-label", words);
  }
}

// Themes -----------------------------------------------------------------------------------------

const themes = ["auto", "light", "dark"];

function storedTheme() {
  try {
    return localStorage.getItem("tutti-theme") ?? "auto";
  } catch {
    return "auto";
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("tutti-theme", theme);
  } catch {
    // A page from disk may have no storage.
  }
  forgetTheme();
  byId("theme")?.replaceWith(themeButton());
  current?.view.repaint?.();
}

function themeButton() {
  const theme = document.documentElement.dataset.theme;
  const next = themes[(themes.indexOf(theme) + 1) % themes.length];
  return h(
    "button",
    {
      type: "button",
      id: "theme",
      class: "icon",
      title: `Colours: ${theme}; change to ${next}`,
      "aria-label": `Colours: ${theme}. Change to ${next}.`,
      onclick: () => setTheme(next),
    },
    sign(theme),
  );
}

function drawTools() {
  const share = h(
    "button",
    {
      type: "button",
      id: "share",
      class: "icon",
      title: "Copy a link to what you see",
      "aria-label": "Copy a link to what you see",
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(location.href);
          share.replaceChildren(sign("done"));
        } catch {
          prompt("The link:", location.href);
        }
        setTimeout(() => share.replaceChildren(sign("link")), 1200);
      },
    },
    sign("link"),
  );
  const keys = h(
    "button",
    { type: "button", id: "keys", class: "icon", title: "Keys (?)", "aria-label": "Keys", onclick: showKeys },
    "?",
  );
  const print = h(
    "button",
    {
      type: "button",
      id: "print",
      class: "icon",
      title: "Print",
      "aria-label": "Print",
      onclick: () => window.print(),
    },
    sign("print"),
  );
  put(byId("tools"), share, print, themeButton(), keys);
}

const keyTable = [
  ["space", "play, pause"],
  ["← →", "one round back, on"],
  ["Home End", "start, end"],
  ["↑ ↓", "in the picture: the ranks"],
  ["1 – 6", "Play, Cost, Network, Compare, Proof, Learn"],
  ["+ −", "one rank more, less"],
  ["[ ]", "the algorithm before, after"],
  ["?", "these keys"],
];

function showKeys() {
  let dialog = byId("keylist");
  if (!dialog) {
    dialog = h(
      "dialog",
      { id: "keylist", "aria-label": "Keys" },
      h("h2", {}, "Keys"),
      h(
        "table",
        {},
        keyTable.map(([key, words]) => h("tr", {}, h("th", {}, h("kbd", {}, key)), h("td", {}, words))),
      ),
      h("form", { method: "dialog" }, h("button", {}, "Close")),
    );
    document.body.append(dialog);
  }
  dialog.showModal();
}

function shiftAlgorithm(by) {
  const options = [...(byId("a")?.options ?? [])].map((each) => each.value);
  if (options.length === 0) return;
  const at = options.indexOf(state.a);
  update({ a: options[(at + by + options.length) % options.length] });
}

function onKey(event) {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (
    target.matches?.("input:not([type=range]), select, textarea") ||
    (target.matches?.("input[type=range]") && event.key.startsWith("Arrow"))
  )
    return;
  if (event.key === " " && target.matches?.("button, summary, a")) return;
  const digit = Number(event.key);
  if (digit >= 1 && digit <= views.length) update({ view: views[digit - 1][0] }, { replace: false });
  else if (event.key === "?") showKeys();
  else if (event.key === "+" || event.key === "=") update({ p: state.p + 1 });
  else if (event.key === "-") update({ p: state.p - 1 });
  else if (event.key === "[") shiftAlgorithm(-1);
  else if (event.key === "]") shiftAlgorithm(1);
  else if (!current?.view.key?.(event)) return;
  event.preventDefault();
}

async function start() {
  document.documentElement.dataset.theme = storedTheme();
  drawTools();
  try {
    await startEngine();
  } catch (error) {
    showFault(new Error(`The library cannot be started in this browser: ${error.message}`));
    return;
  }
  startState();
  // For the console and for tests: the library as the page asks it.
  window.tuttiAsk = ask;
  window.tuttiTours = tours.map(({ id, steps }) => ({ id, steps: steps.length }));
  onState((changed) => {
    for (const key of changed) pending.add(key);
    render();
  });
  addEventListener("keydown", onKey);
  addEventListener("popstate", () => update(readFragment()));
  addEventListener("hashchange", () => update(readFragment()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetTheme();
    current?.view.repaint?.();
  });
  byId("brand").addEventListener("click", (event) => {
    event.preventDefault();
    update({ view: "learn", topic: "" }, { replace: false });
  });
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
  let wasWide = innerWidth > 900;
  let before = innerWidth;
  addEventListener(
    "resize",
    inFrame(() => {
      const wide = innerWidth > 900;
      // On a phone only the height changes while the reader scrolls, as the browser hides its bar.
      if (!wide && innerWidth === before) return;
      before = innerWidth;
      if (wide !== wasWide) {
        wasWide = wide;
        byId("side").querySelector("details.fold").open = wide;
      }
      current?.view.repaint?.();
    }),
  );
  render();
}

start();
