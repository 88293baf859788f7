import { h } from "./dom.js";

// A table in the answer to an exercise.

export const answerTable = (head, rows, attributes = {}) =>
  h(
    "div",
    { class: "scroll" },
    h(
      "table",
      { class: "figures", ...attributes },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          head.map((each) => h("th", { scope: "col" }, each)),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h(
            "tr",
            {},
            row.map((each) => h("td", {}, each)),
          ),
        ),
      ),
    ),
  );
