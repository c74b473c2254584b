/** An element with attributes and children; text goes in as text, never as markup. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(key, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

/** The same for pictures. */
function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

/** A number in three digits or so, with a prefix and a unit: 12.3 k, 4.56 GB; small whole ones as they are. */
function short(number, unit = "") {
  const prefixes = ["", "k", "M", "G", "T", "P"];
  let [rest, at] = [number, 0];
  while (rest >= 1000 && at + 1 < prefixes.length) {
    rest /= 1000;
    at += 1;
  }
  if (Number.isInteger(number) && number < 10000) {
    return (number + " " + unit).trim();
  }
  const digits = Number.isInteger(rest) || rest >= 100 ? 0 : rest >= 10 ? 1 : 2;
  return (rest.toFixed(digits) + " " + prefixes[at] + unit).trim();
}
