// Logging in: by a token that is typed, or by a one-time link, whose secret stands behind the # and so in no log.

import { api } from "./api.js";
import { byId, fill } from "./dom.js";
import { refusal } from "./frame.js";

/** The page to go to afterwards: one of this service, by its path. */
function next() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "/";
  const place = new URL(wanted, location.origin);
  const inside = place.origin === location.origin && wanted.startsWith("/") && !place.pathname.startsWith("//");
  return inside ? place.pathname + place.search + place.hash : "/";
}

/** What is sent for a text: the secret of a link stands behind its #, any other text is a token. */
function credential(text) {
  const at = text.indexOf("#");
  return at < 0 ? { token: text.trim() } : { link: text.slice(at + 1).trim() };
}

async function login(text) {
  try {
    await api("/login", { body: credential(text), anonymous: true });
    location.replace(next());
  } catch (error) {
    fill(byId("state"), refusal(error));
    byId("token").value = "";
    byId("token").focus();
  }
}

byId("login").addEventListener("submit", (event) => {
  event.preventDefault();
  login(byId("token").value);
});
byId("keys").hidden = true;

if (location.hash.length > 1) {
  const text = location.hash;
  history.replaceState(null, "", location.pathname + location.search);
  login(text);
} else {
  byId("token").focus();
}
