// Draws the charts of a page when they come near the screen. A chart is the specification beside its `.live` element.
"use strict";
(() => {
  const NEAR = "800px";  // a chart is drawn when it is this close to the screen
  const NARROW = 440;  // px; in less, charts shrink, with larger letters
  const AROUND = 100;  // px, of what stands left and right of a panel
  const PHONE = { axis: { labelFontSize: 16, titleFontSize: 17 }, legend: { labelFontSize: 15 }, title: { fontSize: 18, subtitleFontSize: 15 } };
  // Without code that is made as it goes, which the page's policy forbids.
  const SETTINGS = { actions: false, ast: true, renderer: "svg" };

  // Panels below each other, not side by side; what is a row of lines over time becomes as narrow as the screen.
  function fitPhone(spec, width) {
    if (spec.vconcat) {
      for (const panel of spec.vconcat) panel.width = width - AROUND;
      return;
    }
    if (spec.columns) spec.columns = 1;
    for (const [part, larger] of Object.entries(PHONE)) spec.config[part] = { ...spec.config[part], ...larger };
  }

  function draw(live) {
    const spec = JSON.parse(live.parentElement.querySelector("script[type='application/json']").textContent);
    // A finger that scrolls the page must not move a chart instead.
    if (matchMedia("(pointer: coarse)").matches) delete spec.params;
    live.hidden = false;
    if (live.clientWidth < NARROW) fitPhone(spec, live.clientWidth);
    vegaEmbed(live, spec, SETTINGS).then(
      () => live.parentElement.classList.add("drawn"),
      (reason) => { live.hidden = true; console.error(reason); },
    );
  }

  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      draw(target.querySelector(".live"));
    }
  }, { rootMargin: `${NEAR} 0px` });
  for (const picture of document.querySelectorAll(".picture:has(.live)")) observer.observe(picture);
})();
