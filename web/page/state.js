import { ask } from "./engine.js";
import { h } from "./dom.js";

// What the page shows. Every state is in the fragment of the address, so that it can be linked to.

export const views = [
  ["play", "Play", "round by round, what each rank holds"],
  ["cost", "Cost", "what every algorithm costs, and when it wins"],
  ["network", "Network", "the algorithm on a real network"],
  ["compare", "Compare", "two algorithms side by side"],
  ["proof", "Proof", "why it is correct, and what damage does"],
  ["learn", "Learn", "definitions, tours and exercises"],
];

// The keys of the fragment. A default is not written.
const defaults = {
  view: "play",
  c: "allreduce",
  a: "ring",
  b: "",
  p: 4,
  root: 0,
  shape: "",
  n: "1MiB",
  alpha: "1us",
  bw: "100GB/s",
  gamma: "0",
  node: 1,
  nalpha: "0",
  nbw: "1000GB/s",
  ports: "one",
  t: 0,
  layout: "auto",
  show: "symbols",
  values: "",
  follow: "",
  sync: "round",
  net: "",
  order: "",
  damage: "",
  topic: "",
  tour: "",
  step: 0,
};

export const state = { ...defaults };
export let catalogue = null;
const listeners = [];

export function onState(listener) {
  listeners.push(listener);
}

export function algorithmName(short = state.a, collective = state.c) {
  return `${collective}/${short}`;
}

export function findAlgorithm(name) {
  return catalogue.algorithms.find((each) => each.name === name);
}

export function algorithmsOf(collective) {
  return catalogue.algorithms.filter((each) => each.collective === collective);
}

export function collectiveOf(name = state.c) {
  return catalogue.collectives.find((each) => each.name === name);
}

// The ranks up to which a view shows details.
export const mostPlayed = 64;
export const mostRanks = 1024;

const usual = {
  broadcast: "binomial",
  scatter: "binomial",
  gather: "binomial",
  allgather: "ring",
  reduce: "binomial",
  allreduce: "ring",
  reduce_scatter: "ring",
  alltoall: "pairwise",
  barrier: "dissemination",
};
const rivals = { ring: "binomial", binomial: "ring" };

function whole(value, least, most, otherwise) {
  const number = Math.round(Number(value));
  return Number.isFinite(number) ? Math.min(most, Math.max(least, number)) : otherwise;
}

// Makes a state that can be shown of one that may contradict itself.
function normalise() {
  if (!views.some(([key]) => key === state.view)) state.view = defaults.view;
  if (!catalogue.collectives.some((each) => each.name === state.c)) state.c = defaults.c;
  const all = algorithmsOf(state.c).map((each) => each.name.split("/")[1]);
  if (!all.includes(state.a)) state.a = all.includes(usual[state.c]) ? usual[state.c] : all[0];
  if (!all.includes(state.b) || state.b === state.a) {
    const rival = rivals[state.a];
    state.b = all.includes(rival) ? rival : (all.find((each) => each !== state.a) ?? state.a);
  }
  state.p = whole(state.p, 1, mostRanks, defaults.p);
  state.root = whole(state.root, 0, state.p - 1, 0);
  state.node = whole(state.node, 1, state.p, 1);
  state.t = Math.max(0, Number(state.t) || 0);
  state.step = whole(state.step, 0, 99, 0);
  if (state.shape && product(state.shape) !== state.p) state.shape = "";
}

export function product(shape) {
  return shape.split("x").reduce((all, each) => all * Number(each), 1);
}

// The shapes of two or three dimensions that p ranks fill.
export function shapesOf(p, [least, most]) {
  const found = [];
  for (let a = 1; a <= p; ++a) {
    if (p % a) continue;
    if (least <= 2) found.push(`${a}x${p / a}`);
    if (most < 3) continue;
    for (let b = 2; b <= p / a; ++b)
      if (a > 1 && (p / a) % b === 0 && p / a / b > 1) found.push(`${a}x${b}x${p / a / b}`);
  }
  return found;
}

export function update(patch, { replace = true } = {}) {
  const schedule = ["c", "a", "p", "root", "shape"];
  const before = { ...state };
  Object.assign(state, patch);
  normalise();
  // A round, damage or an order of another schedule means nothing.
  if (schedule.some((key) => before[key] !== state[key])) {
    if (!("t" in patch)) state.t = 0;
    if (!("damage" in patch)) state.damage = "";
    if (!("follow" in patch)) state.follow = "";
  }
  if (before.p !== state.p && !("order" in patch)) state.order = "";
  const changed = new Set(Object.keys(state).filter((key) => before[key] !== state[key]));
  if (changed.size === 0) return;
  writeFragment(replace && !changed.has("view"));
  for (const each of listeners) each(changed, before);
}

export function fragmentOf(patch = {}) {
  const words = [];
  for (const [key, value] of Object.entries({ ...state, ...patch })) {
    if (String(value) === String(defaults[key])) continue;
    if (key === "b" && !["compare", "cost"].includes({ ...state, ...patch }.view)) continue;
    words.push(
      `${key}=${encodeURIComponent(value).replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",").replace(/%3D/g, "~")}`,
    );
  }
  return `#${words.join("&")}`;
}

let timer = 0;

function writeFragment(replace) {
  const write = () => {
    const fragment = fragmentOf();
    if (location.hash === fragment || (fragment === "#" && location.hash === "")) return;
    history[replace ? "replaceState" : "pushState"](null, "", fragment);
  };
  clearTimeout(timer);
  // Browsers limit how often the address may change.
  if (replace) timer = setTimeout(write, 120);
  else write();
}

export function readFragment() {
  const given = {};
  for (const part of location.hash.slice(1).split("&")) {
    const at = part.indexOf("=");
    if (at < 1) continue;
    const key = part.slice(0, at);
    if (!(key in defaults)) continue;
    try {
      given[key] = decodeURIComponent(part.slice(at + 1).replace(/~/g, "="));
    } catch {
      // A damaged link: the default stands.
    }
  }
  return { ...defaults, ...given };
}

export function startState() {
  catalogue = ask("catalogue");
  Object.assign(state, readFragment());
  normalise();
}

// Arguments of the library's questions.
export function problem(patch = {}) {
  const use = { ...state, ...patch };
  return { algorithm: `${use.c}/${use.a}`, ranks: use.p, root: use.root, shape: use.shape };
}

export function model(patch = {}) {
  const use = { ...state, ...patch };
  return {
    collective: use.c,
    ranks: use.p,
    root: use.root,
    shape: use.shape,
    size: use.n,
    alpha: use.alpha,
    bandwidth: use.bw,
    gamma: use.gamma,
    node: use.node,
    node_alpha: use.nalpha,
    node_bandwidth: use.nbw,
    ports: use.ports,
  };
}

// A link to another state, for texts.
export function link(words, patch) {
  return h(
    "a",
    {
      href: fragmentOf(patch),
      onclick: (event) => {
        event.preventDefault();
        update(patch, { replace: false });
      },
    },
    words,
  );
}
