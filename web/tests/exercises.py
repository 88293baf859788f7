"""The exercises of the lectures: the page's answers, compared with the command's."""

import json
from pathlib import Path

from explorer import expect, same


def answer_of(page, exercise):
    page.go(f"view=learn&topic={exercise}")
    page.click("#reveal")
    page.browser.until("document.querySelector('#answer').dataset.result")
    return json.loads(page.browser.eval("document.querySelector('#answer').dataset.result"))


def price(page, *words):
    """The seconds of the one algorithm in the command's table."""
    return page.command("cost", *words, "--json")["algorithms"][0]["one_port"]["seconds"]


def rows_of(page, *words):
    return {row["algorithm"].split("/")[1]: row for row in page.command("cost", *words, "--json")["algorithms"]}


def exercise_1(page, ours):
    theirs = page.command("explain", "reduce_scatter", "ring", "--values", "1,2,3,4;5,6,7,8;9,10,11,12;13,14,15,16", "--json")
    return [[each] for each in ours["holds"]] == theirs["output"] == [[28], [32], [36], [40]]


def exercise_2(page, ours):
    theirs = page.command("crossover", "allreduce", "ring", "tree", "-p", "256", "--alpha", "5us", "--bandwidth", "200GB/s", "--json")["size"]
    return abs(ours["size"] - theirs) <= 256 and abs(ours["formula"] - theirs) < 1e-4 * theirs


def exercise_3(page, ours):
    machine = ["--size", "1GB", "--alpha", "0", "--bandwidth", "100GB/s", "--ranks-per-node", "8", "--node-alpha", "0", "--node-bandwidth", "600GB/s"]
    return same(ours, {"flat": price(page, "allreduce/ring", "-p", "64", *machine),
                       "rings": price(page, "allreduce/ring_ring", "--shape", "8x8", *machine)})


def exercise_4(page, ours):
    theirs = page.command("buckets", "-p", "16", "--alpha", "10us", "--bandwidth", "100GB/s", "--bucket", "25MB", "--json")["buckets"]
    page.choose("#ex-4-p", "8")
    page.browser.until("JSON.parse(document.querySelector('#answer').dataset.result).ranks === 8")
    return same([ours["single"], ours["bucketed"]], [each["seconds"] for each in theirs[:2]])


def exercise_5(page, ours):
    proved = page.command("verify", "rabenseifner", "-p", "6", "--json")["verified"][0]
    return ours == {"proved": proved["violations"] == 0, "rounds": rows_of(page, "rabenseifner", "-p", "6")["halving_doubling"]["rounds"]}


def exercise_6(page, ours):
    halves = []
    for ranks in (2, 3, 4, 5, 6, 7, 8, 12, 16, 17):
        both = rows_of(page, "allreduce", "bidirectional", "-p", str(ranks), "--size", str(ranks * 5040))["bidirectional_ring"]
        halves.append(both["rounds"] == 2 * (ranks // 2) and both["most_sent"] == both["bounds"]["most_sent"])
    return ours["halves"] is all(halves)


def exercise_7(page, ours):
    size = 5 * 5040
    share = lambda count: f"{count // size} D".replace("1 D", "D") if count % size == 0 else f"D/{size // count}"
    theirs = rows_of(page, "allreduce", "mesh", "single-root", "binary-tree", "naive-ring", "ring", "-p", "5", "--size", str(size))
    names = {"mesh": "mesh", "single root": "root", "binary tree": "binary_tree", "ring, naive": "ring_naive", "ring, optimised": "ring"}
    expected = [[name, share(theirs[row]["bytes"]), theirs[row]["rounds"], share(theirs[row]["most_in_a_round"])] for name, row in names.items()]
    return ours["rows"] == expected and expected[4] == ["ring, optimised", "8 D", 8, "D/5"]


def exercise_8(page, ours):
    network = str(Path(__file__).resolve().parents[2] / "examples" / "networks" / "lecture.json")
    return ours == {order.replace(",", ""): page.command("topo", "stretch", network, "--order", order, "--json")["average"]
                    for order in ("A,C,D,B", "A,C,B,D")}


def exercise_9(page, ours):
    theirs = rows_of(page, "allreduce", "single-root", "ring", "-p", "4", "--size", "16384")
    return ours == {name: theirs[name]["most_through"] / 16384 for name in ("root", "ring")}


def exercise_10(page, ours):
    theirs = page.command("explain", "pipeline", "--json")
    page.choose("#ex-10-values", "1, 2, 3")
    shown = json.loads(page.browser.eval("document.querySelector('#answer').dataset.result"))
    page.choose("#ex-10-values", "1, two")
    expect("words are refused", page.browser.eval("!document.querySelector('#ex-10-values').checkValidity()"))
    return ours == theirs and shown == page.command("explain", "pipeline", "--values", "1,2,3", "--json")


def exercise_11(page, ours):
    machine = ["-p", "4", "--alpha", "10us", "--bandwidth", "12.5GB/s"]
    times = lambda name: [price(page, f"allreduce/{name}", "--size", size, *machine) for size in ("1kB", "1MB", "16MB")]
    crossover = page.command("crossover", "allreduce", "ring", "tree", *machine, "--json")["size"]
    return same(ours, {"crossover": crossover, "ring": times("ring"), "tree": times("binomial")})


EXERCISES = [exercise_1, exercise_2, exercise_3, exercise_4, exercise_5, exercise_6, exercise_7, exercise_8, exercise_9,
             exercise_10, exercise_11]
