import { hideTip, s, showTip } from "./dom.js";

// A chart of lines over one axis, both axes logarithmic unless told otherwise.

const size = { width: 900, height: 400, left: 62, right: 150, top: 14, bottom: 40 };

function ticksOf(least, most, log, few = false) {
  if (!log) {
    const step =
      10 ** Math.floor(Math.log10((most - least) / 4)) *
      ([1, 2, 5].find((each) => (most - least) / (10 ** Math.floor(Math.log10((most - least) / 4)) * each) <= 7) ?? 10);
    const found = [];
    for (let at = Math.ceil(least / step) * step; at <= most * 1.0001; at += step) found.push(at);
    return found;
  }
  const found = [];
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)); ++power) {
    const at = 10 ** power;
    if (at >= least * 0.999 && at <= most * 1.001) found.push(at);
  }
  if (found.length < 2 && !few) {
    for (const factor of [2, 5])
      for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); ++power) {
        const at = factor * 10 ** power;
        if (at >= least && at <= most) found.push(at);
      }
  }
  const skip = Math.ceil(found.length / 8);
  return found.sort((a, b) => a - b).filter((_, i) => i % skip === 0);
}

// lines: { name, label, colour, width, dash, values }; marks: { x, y, words }; xTicks overrides.
export function chart({
  xs,
  lines,
  xText,
  yText,
  title,
  xTitle,
  now = null,
  marks = [],
  xLog = true,
  yLog = true,
  onpick,
  online,
  height = size.height,
  width = size.width,
  names = true,
  xTicks = null,
}) {
  const right = names ? size.right : 30;
  const area = { left: size.left, right: width - right, top: size.top, bottom: height - size.bottom };
  const all = lines.flatMap((line) => line.values.filter((each) => each !== null && each > 0));
  if (all.length === 0)
    return s(
      "svg",
      { class: "chart", viewBox: `0 0 ${width} 60` },
      s("text", { x: 10, y: 30 }, "nothing to show here"),
    );
  const pad = yLog ? 1.25 : 1;
  const [low, high] = [yLog ? Math.min(...all) / pad : 0, Math.max(...all) * (yLog ? pad : 1.08)];
  const [from, to] = [xs[0], xs.at(-1)];
  const scale = (log, least, most, a, b) => (value) =>
    a + (b - a) * (log ? Math.log(value / least) / Math.log(most / least || 2) : (value - least) / (most - least || 1));
  const x = scale(xLog, from, to, area.left, area.right);
  const y = scale(yLog, low, high, area.bottom, area.top);
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  for (const at of xTicks ?? ticksOf(from, to, xLog)) {
    svg.append(
      s("line", { class: "grid", x1: x(at), x2: x(at), y1: area.top, y2: area.bottom }),
      s("text", { x: x(at), y: area.bottom + 16, "text-anchor": "middle" }, xText(at)),
    );
  }
  for (const at of ticksOf(low, high, yLog)) {
    svg.append(
      s("line", { class: "grid", x1: area.left, x2: area.right, y1: y(at), y2: y(at) }),
      s("text", { x: area.left - 7, y: y(at) + 4, "text-anchor": "end" }, yText(at)),
    );
  }
  svg.append(
    s("path", { class: "axis", fill: "none", d: `M${area.left} ${area.top}V${area.bottom}H${area.right}` }),
    s("text", { x: (area.left + area.right) / 2, y: height - 5, "text-anchor": "middle" }, xTitle),
  );
  for (const line of [...lines].sort((a, b) => (a.width ?? 1) - (b.width ?? 1))) {
    let d = "";
    let pen = false;
    line.values.forEach((value, i) => {
      if (value === null || value <= 0) {
        pen = false;
        return;
      }
      d += `${pen ? "L" : "M"}${x(xs[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = true;
    });
    if (!d) continue;
    const path = s("path", {
      class: "line",
      d,
      stroke: line.colour,
      "stroke-width": line.width ?? 1.5,
      "stroke-dasharray": line.dash,
      opacity: line.faint ? 0.45 : 1,
    });
    const wide = s("path", { class: "line", d, stroke: "transparent", "stroke-width": 12, "data-line": line.name });
    if (online)
      wide.addEventListener("click", (event) => {
        event.stopPropagation();
        online(line);
      });
    wide.addEventListener("pointermove", (event) => showTip(line.label ?? line.name, event.clientX, event.clientY));
    wide.addEventListener("pointerleave", hideTip);
    svg.append(path, wide);
  }
  if (names) nameLines(svg, lines, area, y);
  if (now !== null && now >= from && now <= to)
    svg.append(s("line", { class: "now", x1: x(now), x2: x(now), y1: area.top, y2: area.bottom }));
  for (const mark of marks) {
    if (mark.x < from || mark.x > to) continue;
    const dot = s(
      "circle",
      { class: "cross", cx: x(mark.x), cy: y(mark.y), r: 5, tabindex: 0, "aria-label": mark.words },
      s("title", {}, mark.words),
    );
    svg.append(
      dot,
      s("text", { class: "name", x: x(mark.x), y: y(mark.y) - 11, "text-anchor": "middle" }, mark.short ?? ""),
    );
  }
  if (onpick) {
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      const part = (((event.clientX - box.left) / box.width) * width - area.left) / (area.right - area.left);
      const clamped = Math.min(1, Math.max(0, part));
      onpick(xLog ? from * (to / from) ** clamped : from + (to - from) * clamped);
    };
    svg.style.cursor = "ew-resize";
    svg.addEventListener("pointerdown", (event) => {
      place(event);
      const move = (next) => place(next);
      const end = () => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", end);
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", end);
    });
  }
  return svg;
}

// The names of the lines at their ends, moved apart where they would overlap.
function nameLines(svg, lines, area, y) {
  const ends = lines
    .filter((line) => line.label && !line.faint)
    .map((line) => ({ line, at: line.values.findLast((each) => each !== null && each > 0) }))
    .filter((each) => each.at !== undefined)
    .map((each) => ({ ...each, y: y(each.at) }))
    .sort((a, b) => a.y - b.y);
  for (let i = 1; i < ends.length; ++i) ends[i].y = Math.max(ends[i].y, ends[i - 1].y + 13);
  const over = ends.length ? ends.at(-1).y - (area.bottom + 4) : 0;
  if (over > 0)
    for (let i = ends.length - 1; i >= 0; --i)
      ends[i].y = Math.min(ends[i].y, area.bottom + 4 - 13 * (ends.length - 1 - i));
  for (const { line, y: at } of ends)
    svg.append(
      s(
        "text",
        {
          class: "name",
          x: area.right + 6,
          y: at + 4,
          style: `fill:${line.colour};font-weight:${(line.width ?? 1) > 2 ? 700 : 500}`,
        },
        line.label,
      ),
    );
}
