import { ask, askLast, askLater, forgetLast, isRemembered } from "./engine.js";
import { h, painted, put } from "./dom.js";
import { chart } from "./chart.js";
import { collectiveTitle, shortName } from "./controls.js";
import { linearMath } from "./math.js";
import { algorithmName, algorithmsOf, model, state, update } from "./state.js";
import { exportTable } from "./export.js";
import {
  bytesText,
  commas,
  decimalBytes,
  digits,
  plural,
  roughBytes,
  roughRate,
  roughSeconds,
  secondsText,
  shareText,
  sizeName,
} from "./units.js";

import { colourOf, drawOrigin, drawSensitivity, drawWinners, quiet } from "./cost_parts.js";

// The lectures' table, curves over sizes with crossovers, and what changes if the machine does.

const sizes = Array.from({ length: 31 }, (_, i) => 2 ** (i + 2));

export function costView() {
  const table = h("div", { class: "panel" });
  const curve = h("div", { class: "panel" });
  const more = h("div", { class: "cards" });
  const map = h("div", { class: "panel" });
  const how = h("div", { class: "panel" });
  const element = h("div", { class: "stack" }, table, curve, how, more, map);
  let unit = "bytes";
  let hidden = new Set();

  function drawTable(answer, counting = false) {
    const n = answer.size;
    const rows = [...answer.algorithms].sort(
      (a, b) => (a[port()]?.seconds ?? Infinity) - (b[port()]?.seconds ?? Infinity),
    );
    const times = rows.map((row) => row[port()]?.seconds).filter((each) => each !== undefined);
    const slowest = Math.max(...times);
    const amount = (bytes, row) => (unit === "bytes" ? commas(bytes) : shareOf(bytes, row, n));
    const head = [
      "algorithm",
      "time",
      "critical path",
      "rounds",
      "messages",
      "all ranks send",
      "one rank sends at most",
      "of the bound",
      "in one round at most",
      "bytes added",
    ];
    const body = rows.map((row) => {
      const price = row[port()];
      const chosen = row.algorithm === algorithmName();
      const ratio = answer.bounds.most_sent ? `${(row.most_sent / answer.bounds.most_sent).toFixed(2)}×` : "–";
      return h(
        "tr",
        { class: chosen ? "chosen" : null, "data-algorithm": row.algorithm, "aria-current": chosen ? "true" : null },
        h(
          "td",
          {},
          h(
            "button",
            { type: "button", class: "plain", onclick: () => update({ a: row.algorithm.split("/")[1] }) },
            shortName(row.algorithm),
            row.shape ? h("span", { class: "times" }, ` ${row.shape.replaceAll("x", "×")}`) : "",
          ),
        ),
        h(
          "td",
          { class: "left" },
          price
            ? [
                h("span", {
                  class: "timebar",
                  style: `width:${Math.max(2, (64 * price.seconds) / slowest).toFixed(1)}px;background:${colourOf(row.algorithm)}`,
                }),
                secondsText(price.seconds),
              ]
            : "no formula",
        ),
        h(
          "td",
          { class: "left" },
          price?.messages !== undefined ? linearMath(price, n) : h("span", { class: "soft" }, "by formula"),
        ),
        ...[row.rounds, row.messages].map((each) => h("td", {}, commas(each))),
        h("td", {}, amount(row.bytes, row)),
        h("td", {}, amount(row.most_sent, row)),
        h("td", { class: "soft" }, ratio),
        h("td", {}, amount(row.most_in_a_round, row)),
        h("td", {}, amount(row.reduced, row)),
      );
    });
    const counted = answer.algorithms.every((row) => row.counted);
    const origin = counting
      ? "By formula, until the schedules are counted"
      : counted
        ? "Counted from the schedules"
        : "Schedules of more than 70,000 messages are not built here: their figures are by formula, which the tests compare with the counted ones";
    put(
      table,
      h(
        "div",
        { class: "bar" },
        h("h2", {}, `${collectiveTitle(state.c)}, ${plural(state.p, "rank")}, n = ${bytesText(n)}`),
        h(
          "div",
          { class: "segments", role: "group", "aria-label": "Amounts" },
          [
            ["bytes", "bytes"],
            ["shares", "shares of D"],
          ].map(([key, words]) =>
            h(
              "button",
              {
                type: "button",
                id: `unit-${key}`,
                "aria-pressed": String(unit === key),
                onclick: () => {
                  unit = key;
                  drawTable(answer);
                },
              },
              words,
            ),
          ),
        ),
        exportTable(
          () => table.querySelector("table"),
          `${state.c}-p${state.p}`,
          () => answer,
        ),
      ),
      h(
        "div",
        { class: "scroll" },
        h(
          "table",
          { class: "figures", id: "figures" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              head.map((each, i) => h("th", { scope: "col", class: i === 1 || i === 2 ? "left" : null }, each)),
            ),
          ),
          h("tbody", {}, body),
        ),
      ),
      h(
        "p",
        { class: "note" },
        `${origin}. A byte is counted once, where it is sent. No ${collectiveTitle(state.c)} does with less: some rank sends ${commas(answer.bounds.most_sent)} bytes, all ranks together ${commas(answer.bounds.bytes)}, in ${plural(answer.bounds.rounds, "round")} of one message in and one out.`,
      ),
    );
  }

  function port() {
    return state.ports === "one" ? "one_port" : "own_links";
  }

  function shareOf(bytes, row, n) {
    if (n === 0) return "0";
    const whole = row.algorithm.startsWith("alltoall") ? state.p : row.chunks;
    const share = (bytes / n) * whole;
    return Math.abs(share - Math.round(share)) < 0.01
      ? shareText(Math.round(share), whole)
      : `${digits(bytes / n, 4)} D`;
  }

  // Curves ------------------------------------------------------------------------------------

  function drawCurves(answer) {
    const lines = answer.lines.map((line) => ({
      name: line.algorithm,
      label: shortName(line.algorithm),
      colour: colourOf(line.algorithm),
      values: hidden.has(line.algorithm) ? line.seconds.map(() => null) : line.seconds,
      width: line.algorithm === algorithmName() ? 3.4 : 1.6,
    }));
    const { marks, best } = crossings(lines);
    const bound = boundLine();
    const now = roughBytes(state.n);
    const at = best.at(nearestSize(now));
    put(
      curve,
      h(
        "div",
        { class: "bar" },
        h("h2", {}, "Time over size"),
        h(
          "p",
          { class: "note", id: "best" },
          at
            ? `Fastest at n = ${bytesText(now)}: ${at}. Drag in the chart to change n; ◯ marks where another one becomes the fastest; dotted: what no algorithm undercuts.`
            : "",
        ),
      ),
      chart({
        ...(innerWidth < 700 ? { width: 460, height: 340, names: false } : {}),
        xs: sizes,
        lines: bound ? [...lines, bound] : lines,
        marks,
        now,
        xText: (value) => decimalBytes(value).replace(" ", "\u00a0"),
        yText: secondsText,
        xTitle: "n, bytes of a rank's larger buffer",
        xTicks: innerWidth < 700 ? [1e3, 1e6, 1e9] : [10, 1e3, 1e5, 1e7, 1e9],
        title: `Time of every ${state.c} algorithm over size. ${marks.map((each) => each.words).join(". ")}`,
        onpick: (value) => update({ n: sizeName(nearPower(value)) }),
        online: (line) => line.name !== "bound" && update({ a: line.name.split("/")[1] }),
      }),
      h(
        "div",
        { class: "keylist" },
        answer.lines.map((line) =>
          h(
            "button",
            {
              type: "button",
              class: "plain",
              "aria-pressed": String(!hidden.has(line.algorithm)),
              style: hidden.has(line.algorithm) ? "opacity:.45;text-decoration:line-through" : "",
              onclick: () => {
                hidden.has(line.algorithm) ? hidden.delete(line.algorithm) : hidden.add(line.algorithm);
                drawCurves(answer);
              },
            },
            h("span", { class: "swatch", style: `background:${colourOf(line.algorithm)}` }),
            shortName(line.algorithm),
          ),
        ),
      ),
      h("div", { id: "crossing", class: "note" }),
    );
    drawCrossing();
  }

  // What no algorithm undercuts with one port: the least number of rounds, or the least that some rank sends.
  function boundLine() {
    if (!bounds || state.ports !== "one" || state.node > 1) return null;
    const [alpha, beta] = [roughSeconds(state.alpha), 1 / roughRate(state.bw)];
    const share = bounds.size ? bounds.most_sent / bounds.size : 0;
    const values = sizes.map((size) => Math.max(bounds.rounds * alpha, share * size * beta));
    if (!values.every((each) => each > 0)) return null;
    return { name: "bound", label: "bound", colour: "var(--soft)", dash: "2 4", width: 1.4, values };
  }

  // Where the fastest algorithm changes, between the sizes of the chart.
  function crossings(lines) {
    const best = sizes.map((_, i) => {
      let found = null;
      for (const line of lines)
        if (line.values[i] > 0 && (found === null || line.values[i] < found.values[i] * (1 - 1e-9))) found = line;
      return found;
    });
    const marks = [];
    for (let i = 1; i < sizes.length; ++i) {
      const [a, b] = [best[i - 1], best[i]];
      if (!a || !b || a === b) continue;
      const [d0, d1] = [a.values[i - 1] - b.values[i - 1], a.values[i] - b.values[i]];
      const part = d1 === d0 ? 1 : Math.min(1, Math.max(0, -d0 / (d1 - d0)));
      const x = sizes[i - 1] + part * (sizes[i] - sizes[i - 1]);
      const y = a.values[i - 1] + part * (a.values[i] - a.values[i - 1]);
      marks.push({
        x,
        y,
        words: `from about ${decimalBytes(x)} on ${b.label} is fastest instead of ${a.label}`,
        short: decimalBytes(Number(x.toPrecision(2))),
      });
    }
    return { marks, best: best.map((line) => line?.label) };
  }

  function nearestSize(bytes) {
    return Math.min(sizes.length - 1, Math.max(0, Math.round(Math.log2(bytes)) - 2));
  }

  function nearPower(value) {
    return 2 ** Math.round(Math.log2(value));
  }

  // The exact crossover of the chosen algorithm and its rival, by the library.
  async function drawCrossing() {
    const rivalName = algorithmName(state.b);
    if (state.a === state.b) return;
    try {
      const found = await askLast("crossing", { ...model(), first: algorithmName(), second: rivalName }, "crossing");
      const place = curve.querySelector("#crossing");
      if (!found || !place) return;
      put(
        place,
        `${shortName(algorithmName())} against `,
        h(
          "select",
          { id: "rival", "aria-label": "rival", onchange: (event) => update({ b: event.target.value }) },
          algorithmsOf(state.c)
            .filter((each) => each.name !== algorithmName())
            .map((each) =>
              h("option", { value: each.name.split("/")[1], selected: each.name === rivalName }, shortName(each.name)),
            ),
        ),
        found.size === null
          ? `: ${shortName(found.above)} is never slower.`
          : `: below ${commas(found.size)} bytes (${decimalBytes(found.size)}) ${shortName(found.below)} is faster, from there on ${shortName(found.above)}.`,
        found.counted ? "" : " By formula, since the schedules are too large for a page.",
      );
    } catch (error) {
      const place = curve.querySelector("#crossing");
      if (place) place.textContent = error.message;
    }
  }

  let token = 0;
  let bounds = null;

  async function drawCharts(own, machine) {
    await painted();
    if (own !== token) return;
    const curves = await askLast(
      "curves",
      { ...model({ n: "1" }), axis: "size", values: sizes.map(String) },
      "curves",
    );
    if (!curves || own !== token) return;
    drawCurves(curves);
    drawSensitivity(more).catch(quiet);
    if (machine) drawWinners(map).catch(quiet);
  }

  async function drawCounted(own, question, machine) {
    const answer = await askLater("cost", question, "cost");
    if (!answer || own !== token) return;
    bounds = { ...answer.bounds, size: answer.size };
    drawTable(answer);
    drawOrigin(
      how,
      answer.algorithms.find((row) => row.algorithm === algorithmName()),
    );
    // The table is there; the charts follow.
    drawCharts(own, machine).catch(quiet);
  }

  return {
    element,
    async change(changed) {
      const relevant = [
        "view",
        "c",
        "a",
        "b",
        "p",
        "root",
        "shape",
        "n",
        "alpha",
        "bw",
        "gamma",
        "node",
        "nalpha",
        "nbw",
        "ports",
      ];
      if (!relevant.some((key) => changed.has(key))) return;
      const own = ++token;
      forgetLast();
      if (changed.has("c")) hidden = new Set();
      const question = { ...model(), prices: port() };
      const machine = relevant.some((key) => changed.has(key) && !["n", "a", "b"].includes(key));
      // To count the schedules of many ranks takes a tenth of a second, and the reader may be dragging.
      if (state.p > 32 && state.node <= 1 && !isRemembered("cost", question)) {
        drawTable(ask("cost", { ...question, counted: false }), true);
        painted()
          .then(() => own === token && drawCounted(own, question, machine))
          .catch(quiet);
        return;
      }
      await drawCounted(own, question, machine);
    },
    repaint() {
      this.change(new Set(["view"]));
    },
  };
}
