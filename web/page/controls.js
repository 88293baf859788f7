import { byId, choice, h, put } from "./dom.js";
import {
  algorithmsOf,
  catalogue,
  collectiveOf,
  findAlgorithm,
  algorithmName,
  mostRanks,
  shapesOf,
  state,
  update,
} from "./state.js";
import { bytesText, roughBytes, sizeName, sizeSteps } from "./units.js";

// The side panel: what to explore.

const presets = [
  ["", "own values", null],
  ["lecture", "textbooks: 1 µs, 100 GB/s", { alpha: "1us", bw: "100GB/s", gamma: "0", node: 1 }],
  ["nvlink", "NVLink box: 2 µs, 450 GB/s", { alpha: "2us", bw: "450GB/s", gamma: "3000GB/s", node: 1 }],
  ["cluster", "100 Gb/s cluster: 10 µs", { alpha: "10us", bw: "100Gb/s", gamma: "10GB/s", node: 1 }],
  ["ethernet", "10 Gb/s Ethernet: 30 µs", { alpha: "30us", bw: "10Gb/s", gamma: "10GB/s", node: 1 }],
  [
    "nodes",
    "nodes of 8, NVLink inside, 100 GB/s between",
    { alpha: "5us", bw: "100GB/s", gamma: "0", node: 8, nalpha: "1us", nbw: "600GB/s" },
  ],
];

function profilePresets() {
  const profile = JSON.parse(byId("profile").textContent);
  return (profile?.links ?? []).map((each) => [
    `own-${each.pairs}`,
    `this machine: ${each.name}`,
    { alpha: each.alpha, bw: each.bandwidth, gamma: each.gamma, node: 1 },
  ]);
}

function allPresets() {
  return [...presets, ...profilePresets()];
}

function currentPreset() {
  const fits = ([, , values]) =>
    values && Object.entries(values).every(([key, value]) => String(state[key]) === String(value));
  return allPresets().find(fits)?.[0] ?? "";
}

// Steps of the slider of ranks: every number to 64, then powers of two and what is between.
const rankSteps = [
  ...Array.from({ length: 64 }, (_, i) => i + 1),
  72,
  80,
  96,
  100,
  112,
  128,
  160,
  192,
  200,
  224,
  256,
  320,
  384,
  448,
  512,
  640,
  768,
  896,
  1000,
  1024,
];

function nearest(list, value) {
  let best = 0;
  list.forEach((each, i) => {
    if (Math.abs(each - value) < Math.abs(list[best] - value)) best = i;
  });
  return best;
}

function slider(id, label, list, value, words, onchange) {
  const range = h("input", {
    type: "range",
    id: `${id}-slider`,
    min: 0,
    max: list.length - 1,
    step: 1,
    value: nearest(list, value),
    "aria-label": label,
    "aria-valuetext": words,
    oninput: (event) => onchange(list[Number(event.target.value)]),
  });
  return range;
}

function entry(id, label, value, onchange, attributes = {}) {
  return h(
    "label",
    { class: "field" },
    h("span", {}, label),
    h("input", {
      id,
      type: "text",
      value,
      spellcheck: "false",
      autocomplete: "off",
      ...attributes,
      onchange: (event) => onchange(event.target.value.trim()),
    }),
  );
}

const titles = {
  broadcast: "Broadcast",
  scatter: "Scatter",
  gather: "Gather",
  allgather: "AllGather",
  reduce: "Reduce",
  allreduce: "AllReduce",
  reduce_scatter: "ReduceScatter",
  alltoall: "AllToAll",
  barrier: "Barrier",
};

export function collectiveTitle(name) {
  return titles[name] ?? name;
}

export function shortName(name) {
  return name.split("/")[1].replaceAll("_", " ");
}

export function drawControls() {
  document.title = `${summary()} – tutti explorer`;
  byId("main").dataset.title = summary();
  const side = byId("side");
  const held = document.activeElement?.id;
  // A slider that is being dragged must stay the same element.
  if (held && held.endsWith("-slider") && side.contains(document.activeElement) && side.dataset.key === keyOf()) {
    refresh(side);
    return;
  }
  side.dataset.key = keyOf();
  put(
    side,
    h(
      "details",
      { class: "fold", open: side.querySelector("details.fold")?.open ?? innerWidth > 900 },
      h("summary", {}, summary()),
      h("div", { class: "fields" }, what(), group(), data(), machine()),
    ),
  );
  if (held) byId(held)?.focus({ preventScroll: true });
}

function keyOf() {
  return [state.c, state.a, state.view].join("/");
}

function refresh(side) {
  const fresh = h("div", {}, what(), group(), data(), machine());
  for (const id of ["p", "n", "root", "shape", "p-note", "n-note", "preset", "alpha", "bw", "gamma"]) {
    const [old, made] = [side.querySelector(`#${id}`), fresh.querySelector(`#${id}`)];
    if (old && made && old !== document.activeElement) old.replaceWith(made);
  }
  for (const id of ["p-slider", "n-slider"]) {
    const [old, made] = [side.querySelector(`#${id}`), fresh.querySelector(`#${id}`)];
    if (old && made && old !== document.activeElement) old.replaceWith(made);
    else if (old && made) old.setAttribute("aria-valuetext", made.getAttribute("aria-valuetext"));
  }
  side.querySelector("summary").textContent = summary();
}

function summary() {
  return `${collectiveTitle(state.c)} by ${shortName(algorithmName())}, ${state.p} ranks`;
}

function what() {
  const algorithm = findAlgorithm(algorithmName());
  return h(
    "fieldset",
    {},
    h("legend", {}, "Operation"),
    choice(
      "Collective",
      state.c,
      catalogue.collectives.map((each) => [each.name, collectiveTitle(each.name)]),
      (c) => update({ c }),
      { id: "c" },
    ),
    choice(
      "Algorithm",
      state.a,
      algorithmsOf(state.c).map((each) => [each.name.split("/")[1], shortName(each.name)]),
      (a) => update({ a }),
      { id: "a" },
    ),
    h("p", { class: "note", id: "summary" }, `${algorithm.summary[0].toUpperCase()}${algorithm.summary.slice(1)}.`),
  );
}

function group() {
  const algorithm = findAlgorithm(algorithmName());
  const parts = [
    h(
      "div",
      { class: "slid" },
      h(
        "label",
        { class: "field" },
        h("span", {}, "Ranks p"),
        h("input", {
          id: "p",
          type: "number",
          min: 1,
          max: mostRanks,
          value: state.p,
          onchange: (event) => update({ p: event.target.value }),
        }),
      ),
      slider("p", "Ranks", rankSteps, state.p, `${state.p} ranks`, (p) => update({ p })),
    ),
  ];
  if (collectiveOf().root)
    parts.push(
      choice(
        "Root",
        String(state.root),
        Array.from({ length: Math.min(state.p, 64) }, (_, i) => [String(i), `rank ${i}`]),
        (root) => update({ root: Number(root) }),
        { id: "root" },
      ),
    );
  if (algorithm.dimensions[1] > 0) {
    const all = shapesOf(state.p, algorithm.dimensions);
    const words = algorithm.name.includes("torus") ? "Torus" : "Ranks per node × nodes";
    parts.push(
      choice(
        words,
        state.shape,
        [["", "squarest"], ...all.map((each) => [each, each.replaceAll("x", " × ")])],
        (shape) => update({ shape }),
        { id: "shape" },
      ),
    );
  }
  return h("fieldset", {}, h("legend", {}, "Group"), parts);
}

function data() {
  const bytes = roughBytes(state.n);
  return h(
    "fieldset",
    {},
    h("legend", {}, "Data"),
    h(
      "div",
      { class: "slid" },
      entry("n", "Size n", state.n, (n) => update({ n }), { title: "bytes of a rank's larger buffer: 1MiB, 64kB, 17" }),
      slider("n", "Size", sizeSteps, bytes, bytesText(bytes), (size) => update({ n: sizeName(size) })),
    ),
  );
}

function machine() {
  const parts = [
    choice(
      "Machine",
      currentPreset(),
      allPresets().map(([key, words]) => [key, words]),
      (key) => {
        const found = allPresets().find(([each]) => each === key);
        if (found?.[2]) update({ nalpha: "0", nbw: "1000GB/s", ...found[2], node: Math.min(found[2].node, state.p) });
      },
      { id: "preset" },
    ),
    h(
      "div",
      { class: "three" },
      entry("alpha", "α", state.alpha, (alpha) => update({ alpha }), { title: "seconds per message" }),
      entry("bw", "1/β", state.bw, (bw) => update({ bw }), { title: "bandwidth of a link: 100GB/s, 25Gb/s" }),
      entry("gamma", "γ", state.gamma, (gamma) => update({ gamma }), {
        title: "seconds per byte added, or a rate: 0, 0.05ns, 20GB/s",
      }),
    ),
    choice(
      "Ports",
      state.ports,
      [
        ["one", "one in, one out"],
        ["unlimited", "any number at once"],
      ],
      (ports) => update({ ports }),
      { id: "ports" },
    ),
  ];
  const nodes = h(
    "details",
    { class: "more", open: state.node > 1 },
    h("summary", {}, "Faster links inside nodes"),
    h(
      "div",
      { class: "three" },
      h(
        "label",
        { class: "field" },
        h("span", {}, "ranks"),
        h("input", {
          id: "node",
          type: "number",
          min: 1,
          max: state.p,
          value: state.node,
          onchange: (event) => update({ node: event.target.value }),
        }),
      ),
      entry("nalpha", "α inside", state.nalpha, (nalpha) => update({ nalpha })),
      entry("nbw", "1/β inside", state.nbw, (nbw) => update({ nbw })),
    ),
  );
  return h("fieldset", {}, h("legend", {}, "Machine"), parts, nodes);
}
