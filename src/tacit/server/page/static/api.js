// The one way from the page to the service: the HTTP API under /v1, with the session cookie of this browser.

/** What the service refused or could not do: a code, full sentences, and perhaps a remedy and a place in the SQL. */
export class ApiError extends Error {
  constructor(status, error, request) {
    super(error.message);
    Object.assign(this, { status, code: error.code, remedy: error.remedy, position: error.position, request });
  }
}

/** Asks the API; `body` is sent as JSON.  A visitor who is not logged in is sent to the page for that. */
export async function api(path, { method, body, accept = "application/json", signal, headers = {}, anonymous = false } = {}) {
  const sends = body !== undefined;
  const verb = method ?? (sends ? "POST" : "GET");
  const request = {
    method: verb,
    signal,
    credentials: "same-origin",
    headers: { Accept: accept, ...headers },
  };
  if (verb !== "GET") request.headers["Tacit-Request"] = "page";
  if (sends) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  let response;
  try {
    response = await patient(`/v1${path}`, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {
      code: "unreachable",
      message: "The service did not answer.",
      remedy: "Check that it is running and try again; a question that was charged before is free when asked again.",
    });
  }
  if (response.status === 401 && !anonymous) {
    location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
    return new Promise(() => {}); // the page is left
  }
  if (!response.ok) throw await failure(response);
  return accept === "application/json" ? answer(response) : response;
}

/** Asks again, three times at most, where the service has too much to do and says when to come back. */
async function patient(address, request) {
  for (let more = 3; ; more--) {
    const response = await fetch(address, request);
    const after = Number(response.headers.get("Retry-After") ?? 60);
    if (more === 0 || ![429, 503].includes(response.status) || after > 5) return response;
    await new Promise((done) => setTimeout(done, 1000 * after));
    request.signal?.throwIfAborted();
  }
}

async function answer(response) {
  const text = await response.text();
  const data = text ? JSON.parse(text) : null;
  return { data, status: response.status, headers: response.headers };
}

async function failure(response) {
  try {
    const { error, request_id: request } = await response.json();
    return new ApiError(response.status, error, request);
  } catch {
    return new ApiError(response.status, { code: "unreadable", message: `The service answered with status ${response.status}.` });
  }
}

/** The data of an answer alone. */
export const get = async (path, options) => (await api(path, options)).data;
export const post = async (path, body, options) => (await api(path, { ...options, body })).data;

/** The parts of the page's own address: /d/NAME/history -> ["d", "NAME", "history"]. */
export const place = () => location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
