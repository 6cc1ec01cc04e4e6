// Draws the charts of a page when they come near the screen. A chart is the specification beside its `.live` element.
"use strict";
(() => {
  const NEAR = "800px";  // a chart is drawn when it is this close to the screen
  const NARROW = 440;  // px; in less, letters of charts are larger
  const LEGIBLE = 560;  // px; a chart whose names would be too small in less scrolls in its box
  const AROUND = 100;  // px, of what stands left and right of a panel
  const PHONE = { axis: { labelFontSize: 14, titleFontSize: 15 }, legend: { labelFontSize: 14 }, title: { fontSize: 16, subtitleFontSize: 13 } };
  // Without code that is made as it goes, which the page's policy forbids.
  const SETTINGS = { actions: false, ast: true, renderer: "svg" };
  const DARK = matchMedia("(prefers-color-scheme: dark)");
  const ON_DARK = new Map(Object.entries(JSON.parse(document.getElementById("on-dark").textContent)));

  // The specification of a picture, in the colours of the screen.
  async function specOf(picture) {
    const packed = atob(picture.querySelector(".spec").textContent);
    const bytes = Uint8Array.from(packed, (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const text = await new Response(unpacked).text();
    return JSON.parse(text, (_, value) => (DARK.matches && ON_DARK.get(value)) || value);
  }

  // Panels below each other, not side by side; what is a row of lines over time becomes as narrow as the screen.
  function fitPhone(spec, width) {
    if (spec.vconcat) {
      for (const panel of spec.vconcat) panel.width = width - AROUND;
      return;
    }
    if (spec.columns) spec.columns = 1;
    for (const [part, larger] of Object.entries(PHONE)) spec.config[part] = { ...spec.config[part], ...larger };
  }

  // Wide enough for its names; a phone scrolls it in its box.
  function legible(svg) {
    svg.style.minWidth = `${Math.min(svg.viewBox.baseVal.width, LEGIBLE)}px`;
  }

  async function draw(picture) {
    const live = picture.querySelector(".live");
    try {
      const spec = await specOf(picture);
      // A finger that scrolls the page must not move a chart instead.
      if (matchMedia("(pointer: coarse)").matches) delete spec.params;
      live.hidden = false;
      const narrow = live.clientWidth < NARROW;
      if (narrow) fitPhone(spec, live.clientWidth);
      await vegaEmbed(live, spec, SETTINGS);
      if (narrow && !spec.vconcat) legible(live.querySelector("svg"));
      picture.classList.add("drawn");
    } catch (reason) {
      live.hidden = true;
      console.error(reason);
    }
  }

  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      draw(target);
    }
  }, { rootMargin: `${NEAR} 0px` });
  for (const picture of document.querySelectorAll(".picture:has(.live)")) observer.observe(picture);
  DARK.addEventListener("change", () => document.querySelectorAll(".picture.drawn").forEach(draw));
})();
