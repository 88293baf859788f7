import { h, hideTip, put, showTip } from "./dom.js";
import { rankColour, themeColours } from "./colours.js";
import { sharpPen } from "./pen.js";
import { bytesText, percentText, secondsText } from "./units.js";

// A simulated run over time: a row for each rank, its messages and sums, and the critical path.

const fields = 8;

function activity(list, i) {
  const [kind, rank, peer, round, bytes, begin, end, alone] = list.slice(i * fields, i * fields + fields);
  return { kind, rank, peer, round, bytes, begin, end, alone };
}

function activityWords(each) {
  if (each.kind === 1)
    return `rank ${each.rank} adds ${bytesText(each.bytes)}, ${secondsText(each.begin)} to ${secondsText(each.end)}`;
  const lost = each.end - each.begin - each.alone;
  return `rank ${each.rank} → ${each.peer}, round ${each.round + 1}: ${bytesText(each.bytes)}, ${secondsText(each.begin)} to ${secondsText(each.end)}${lost > 0.02 * (each.end - each.begin) ? `; ${percentText(lost / (each.end - each.begin))} of it waiting for shared links` : ""}`;
}

export function drawTimeline(place, result, net, { title }) {
  const count = result.activities.length / fields;
  const all = Array.from({ length: count }, (_, i) => activity(result.activities, i));
  const path = Array.from({ length: result.critical_path.length / fields }, (_, i) =>
    activity(result.critical_path, i),
  );
  const ranks = result.finished.length;
  const lanes = all.some((each) => each.kind === 1) ? 2 : 1;
  const row = ranks <= 8 ? 30 : ranks <= 16 ? 20 : ranks <= 32 ? 12 : 8;
  const [left, top, bottom] = [46, 6, 26];
  const canvas = h("canvas", {
    class: "timeline",
    role: "img",
    tabindex: 0,
    "aria-label": `${title}. The critical path has ${path.length} parts: ${path.slice(0, 12).map(activityWords).join("; ")}`,
  });
  const held = path
    .filter((each) => each.kind === 0)
    .reduce((sum, each) => sum + Math.max(0, each.end - each.begin - each.alone), 0);
  put(
    place,
    h("h2", {}, title),
    canvas,
    h(
      "p",
      { class: "note" },
      `Each bar is a message, in the row and colour of its sender${lanes === 2 ? ", or, hatched below it, a sum" : ""}. Its pale end is the time lost because others use the same links. The red frame is the critical path: ${path.length} parts, each of which waited for the one before${held > 1e-6 * result.seconds ? `; ${secondsText(held)} of it is waiting for shared links` : ""}.`,
    ),
  );
  const width = Math.max(320, place.clientWidth - 30);
  const height = top + bottom + ranks * row;
  canvas.style.height = `${height}px`;
  const pen = sharpPen(canvas, width, height, width);
  const theme = themeColours();
  const x = (time) => left + ((width - left - 12) * time) / (result.seconds || 1);
  const y = (rank) => top + rank * row;
  for (let rank = 0; rank < ranks; ++rank) {
    pen.rect(left, y(rank) + 0.5, width - left - 12, row - 1, { fill: theme.empty, alpha: rank % 2 ? 0.35 : 0.6 });
    if (row >= 12 || rank % 4 === 0)
      pen.text(left - 8, y(rank) + row / 2, String(rank), { size: Math.min(11, row), fill: theme.soft, anchor: "end" });
  }
  const bar = (each) => {
    const high = lanes === 2 ? (each.kind === 1 ? row * 0.26 : row * 0.52) : row * 0.74;
    const at = y(each.rank) + (lanes === 2 ? (each.kind === 1 ? row * 0.66 : row * 0.1) : row * 0.13);
    return [x(each.begin), at, Math.max(0.8, x(each.end) - x(each.begin) - (row > 12 ? 0.6 : 0.2)), high];
  };
  for (const each of all) {
    const [bx, by, bw, bh] = bar(each);
    const colour = rankColour(each.rank, Math.max(3, ranks));
    if (each.kind === 1) {
      pen.rect(bx, by, bw, bh, { fill: theme.soft, alpha: 0.75 });
      continue;
    }
    const free = Math.min(bw, (bw * each.alone) / (each.end - each.begin || 1));
    pen.rect(bx, by, free, bh, { fill: colour, alpha: each.round % 2 ? 0.72 : 0.95 });
    if (bw - free > 0.5) pen.rect(bx + free, by, bw - free, bh, { fill: colour, alpha: 0.25 });
    if (bw > 26 && bh > 11)
      pen.text(bx + bw / 2, by + bh / 2, `→ ${each.peer}`, {
        size: 10,
        fill: theme.dark ? "#10151d" : "#10151d",
        weight: 600,
      });
  }
  let before = null;
  for (const each of path) {
    const [bx, by, bw, bh] = bar(each);
    if (before) pen.line([before, [bx, by + bh / 2]], { stroke: theme.bad, line: 1.4, alpha: 0.8 });
    pen.rect(bx, by - 0.5, bw, bh + 1, { stroke: theme.bad, line: 1.6, radius: 1 });
    before = [bx + bw, by + bh / 2];
  }
  // A label needs some 80 pixels.
  const ticks = Math.min(5, Math.max(2, Math.floor((width - left) / 80)));
  for (let i = 0; i <= ticks; ++i) {
    const time = (result.seconds * i) / ticks;
    pen.line(
      [
        [x(time), height - bottom + 2],
        [x(time), height - bottom + 6],
      ],
      { stroke: theme.soft },
    );
    pen.text(x(time), height - 9, secondsText(time), {
      size: 11,
      fill: theme.soft,
      anchor: i === 0 ? "start" : i === ticks ? "end" : "middle",
    });
  }
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const [px, py] = [((event.clientX - box.left) / box.width) * width, event.clientY - box.top];
    const found = all.find((each) => {
      const [bx, by, bw, bh] = bar(each);
      return px >= bx - 0.5 && px <= bx + bw + 0.5 && py >= by - 1 && py <= by + bh + 1;
    });
    if (found) showTip(activityWords(found), event.clientX, event.clientY);
    else hideTip();
  });
  canvas.addEventListener("pointerleave", hideTip);
}
