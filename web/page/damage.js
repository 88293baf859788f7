import { state } from "./state.js";

// Damage in the fragment: "drop:3,retarget:5:2" → a list for the library.

export const damageKinds = [
  ["drop", "drop it", "neither sent nor received"],
  ["drop_send", "do not send it", "the receiver waits in vain"],
  ["drop_receive", "do not receive it", "sent, but no rank expects it"],
  ["retarget", "send it elsewhere", "another rank receives it", "rank"],
  ["retarget_send", "send it to the wrong rank", "which does not expect it", "rank"],
  ["rename", "store it as another chunk", "as in a trace that renames chunks", "chunk"],
  ["resend", "send it once more", "a round later, and added again if it was added"],
  ["delay", "one round later", "both ends"],
  ["delay_receive", "receive it one round later", "the two ends disagree about the round"],
];

export function damageList(text = state.damage) {
  return text
    .split(",")
    .filter(Boolean)
    .map((each) => {
      const [kind, message, value] = each.split(":");
      return { kind, message: Number(message), value: Number(value ?? 0) };
    });
}

export function damageText(list) {
  return list
    .map(({ kind, message, value }) =>
      damageKinds.find(([key]) => key === kind)?.[3] ? `${kind}:${message}:${value}` : `${kind}:${message}`,
    )
    .join(",");
}
