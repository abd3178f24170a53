const byId = (id) => document.getElementById(id);

/** An HTML element with attributes and children; texts are texts, never markup. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http" + "://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

/** The heading under which an element stands. */
function headingOf(node) {
  let at = node;
  while (at && !/^(H\d|SUMMARY)$/.test(at.tagName)) at = at.previousElementSibling ?? at.parentElement;
  return at ?? document.querySelector("h1");
}

const plain = (value) => String(Math.round(value * 10) / 10);
