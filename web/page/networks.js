import { byId, s } from "./dom.js";
import { rankColour } from "./colours.js";
import { state } from "./state.js";

// Networks to choose from, and lines of their pictures.

// A network of p ranks of each kind, near to what the reader has chosen.
export function specs(p, shape) {
  const squarest = shape && shape.includes("x") ? shape : square(p);
  const power = Math.log2(p);
  const found = [
    ["ring", `ring:p=${p},bandwidth=${rate()}`, "ring"],
    ["torus", `torus:${squarest},bandwidth=${rate()}`, `torus ${squarest.replaceAll("x", "×")}`],
    ["star", `star:p=${p},bandwidth=${rate()}`, "one switch"],
    ["full_mesh", `full_mesh:p=${p},bandwidth=${rate()}`, "full mesh"],
  ];
  if (Number.isInteger(power) && power > 0)
    found.push(["hypercube", `hypercube:d=${power},bandwidth=${rate()}`, "hypercube"]);
  for (const gpus of [8, 4, 2]) {
    if (p % gpus || p <= gpus) continue;
    found.push([
      "server",
      `server:p=${gpus},hosts=${p / gpus},outside=${rate()}`,
      `${p / gpus} servers of ${gpus}, one NIC each`,
    ]);
    found.push([
      "multi_rail",
      `multi_rail:gpus=${gpus},nodes=${p / gpus},nics=${gpus},outside=${rate()}`,
      `${p / gpus} nodes of ${gpus}, a rail for each GPU`,
    ]);
    break;
  }
  for (const k of [2, 4, 6, 8])
    if ((k * k * k) / 4 === p)
      found.push(
        ["fat_tree", `fat_tree:k=${k},bandwidth=${rate()}`, `fat tree, k = ${k}`],
        [
          "fat_tree_2",
          `fat_tree:k=${k},oversubscription=2,bandwidth=${rate()}`,
          `fat tree, k = ${k}, oversubscribed twice`,
        ],
      );
  if (p === 4) found.unshift(["lecture", "lecture", "hosts A to D on a cycle of ten links"]);
  return found;
}

function rate() {
  return state.bw;
}

function square(p) {
  let best = `${p}x1`;
  for (let a = 1; a * a <= p; ++a) if (p % a === 0) best = `${p / a}x${a}`;
  return best;
}

export function networkText(key = state.net) {
  return key === "lecture" ? byId("lecture").textContent : key;
}

// A directed link: on the right of its way, so that both directions are seen.
export function linkPath([x1, y1], [x2, y2], [bx, by], radius) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const length = Math.hypot(dx, dy) || 1;
  const off = Math.min(4, radius * 0.34);
  const [ox, oy] = [(-dy / length) * off, (dx / length) * off];
  const control = [(x1 + x2) / 2 + 2 * bx + ox, (y1 + y2) / 2 + 2 * by + oy];
  const bent = Math.hypot(bx, by) > 0.5;
  const text = (value) => value.toFixed(1);
  if (!bent) return `M${text(x1 + ox)} ${text(y1 + oy)}L${text(x2 + ox)} ${text(y2 + oy)}`;
  return `M${text(x1 + ox)} ${text(y1 + oy)}Q${text(control[0])} ${text(control[1])} ${text(x2 + ox)} ${text(y2 + oy)}`;
}

// The overlay: an arc for each pair of ranks that exchange messages, beside the links that it takes.
export function overlayArcs({ net, load, places }, at, radius) {
  const group = s("g", { id: "overlay" });
  for (const [from, to] of load.routes) {
    const [[x1, y1], [x2, y2]] = [at(net.ranks[places[from]]), at(net.ranks[places[to]])];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const bend = Math.min(70, 0.2 * length) + 6;
    const [cx, cy] = [(x1 + x2) / 2 - ((y2 - y1) / length) * bend, (y1 + y2) / 2 + ((x2 - x1) / length) * bend];
    const end = (x, y) => {
      const far = Math.hypot(cx - x, cy - y) || 1;
      return [x + ((cx - x) / far) * (radius + 3), y + ((cy - y) / far) * (radius + 3)];
    };
    const [a, b] = [end(x1, y1), end(x2, y2)];
    group.append(
      s("path", {
        class: "arc",
        d: `M${a.map((each) => each.toFixed(1)).join(" ")}Q${cx.toFixed(1)} ${cy.toFixed(1)} ${b.map((each) => each.toFixed(1)).join(" ")}`,
        stroke: rankColour(from, Math.max(3, places.length)),
        "marker-end": "url(#tip-of-arc)",
      }),
    );
  }
  group.prepend(
    s(
      "defs",
      {},
      s(
        "marker",
        {
          id: "tip-of-arc",
          viewBox: "0 0 8 8",
          refX: 6,
          refY: 4,
          markerWidth: 7,
          markerHeight: 7,
          orient: "auto-start-reverse",
        },
        s("path", { d: "M0 0L8 4L0 8z", fill: "context-stroke" }),
      ),
    ),
  );
  return group;
}
