"""Measures the explorer: milliseconds per frame while it plays, and until a change is shown."""

# Milliseconds: script and layout of a frame at 32 ranks, and a change at 64.
FRAME_BAR = 8
CHANGE_BAR = 100


def cpu(browser):
    """CPU seconds of the page's thread, by kind. A busy machine makes times long, but not these."""
    return {each["name"]: each["value"] for each in browser.call("Performance.getMetrics")["metrics"]}


def measure(page):
    """Prints CPU milliseconds of script and layout per frame, and of everything until a change is shown."""
    browser = page.browser
    browser.still(False)
    browser.call("Performance.enable", timeDomain="threadTicks")
    slowest_frame = slowest_change = 0
    for name in ("ring", "mesh", "halving_doubling", "torus"):
        for ranks in (32, 64):
            page.go(f"c=allreduce&a={name}&p={ranks}")
            page.settle()
            before = cpu(browser)
            frames = browser.eval("""(async () => {
              let frames = 0;
              const real = window.requestAnimationFrame;
              window.requestAnimationFrame = (work) => real((now) => { ++frames; work(now); });
              document.querySelector('#speed').value = '2'; document.querySelector('#speed').dispatchEvent(new Event('change'));
              document.querySelector('#play').click();
              await new Promise((done) => setTimeout(done, 2000));
              window.requestAnimationFrame = real;
              if (document.querySelector('#play [data-sign=pause]')) document.querySelector('#play').click();
              return frames;
            })()""")
            after = cpu(browser)
            spent = {key: 1000 * (after[key] - before[key]) / frames for key in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")}
            if ranks == 32:
                slowest_frame = max(slowest_frame, sum(spent.values()))
            print(f"{name}, p = {ranks}: {frames} frames, script {spent['ScriptDuration']:.2f} ms, layout and style "
                  f"{spent['LayoutDuration'] + spent['RecalcStyleDuration']:.2f} ms a frame")
    # Without its first worker the library runs in the page's thread, so that its time is counted too. What follows
    # after a change is shown has another worker.
    browser.call("Page.addScriptToEvaluateOnNewDocument", source="""
        const RealWorker = Worker;
        let workers = 0;
        window.Worker = function (source) { if (++workers === 1) throw new Error("none"); return new RealWorker(source); };
        const realFrame = window.requestAnimationFrame;
        window.held = null;
        window.requestAnimationFrame = (work) => realFrame((now) => window.held ? window.held.push(work) : work(now));
        // Makes a change. Resolves when it is painted, and holds what the page does afterwards.
        window.change = (selector, value) => new Promise((done) => {
          new MutationObserver((_, observer) => {
            observer.disconnect();
            window.held = [];
            realFrame(() => setTimeout(done));
          }).observe(document.body, { attributeFilter: ["data-shown"] });
          const control = document.querySelector(selector);
          control.value = value;
          control.dispatchEvent(new Event("change"));
        });
        window.release = () => { const works = window.held; window.held = null; works.forEach((work) => work(performance.now())); };""")
    for view in ("play", "cost", "network", "compare", "proof"):
        page.go(f"view={view}&c=allreduce&a=ring&p=64")
        page.settle()
        for what, selector, values in (("algorithm", "#a", ("halving_doubling", "bruck")), ("ranks", "#p", ("63", "62")),
                                       ("size", "#n", ("2MiB", "4MiB"))):
            spent = []
            for value in values:
                before = cpu(browser)
                browser.eval(f"change('{selector}', '{value}')")
                spent.append(1000 * (cpu(browser)["TaskDuration"] - before["TaskDuration"]))
                browser.eval("release()")
                page.settle()
            slowest_change = max(slowest_change, *spent)
            print(f"{view}, p = 64, another {what}: {min(spent):.0f} to {max(spent):.0f} ms of CPU until it is shown")
    for what, most, bar in (("a frame at p = 32", slowest_frame, FRAME_BAR), ("a change at p = 64", slowest_change, CHANGE_BAR)):
        print(f"{what}: {most:.1f} ms of CPU at most, bar {bar} ms: {'met' if most <= bar else 'missed'}")
