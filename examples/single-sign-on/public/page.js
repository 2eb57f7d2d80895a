const element = (id) => document.getElementById(id);
const post = async (path, body = {}) => {
  const headers = { 'Content-Type': 'application/json', 'X-Auth-Transport': 'cookie' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { ok: response.ok, body: text === '' ? {} : JSON.parse(text) };
};
const show = (body) => {
  element('message').textContent = body.detail ?? body.message ?? body.non_field_errors?.[0] ?? 'Something went wrong.';
};

/** Redirects to the provider. The browser stores the page to return to, so that no URL can choose it. */
async function start(route) {
  const { ok, body } = await post(`/sso/${route}`);
  if (!ok) return show(body);
  sessionStorage.setItem('return-to', location.pathname);
  location.assign(body.url);
}

/** Sends the code from this origin, because the server sets no cookies for cross-site requests. */
async function finish() {
  const { ok, body } = await post(`/sso/callback${location.search}`);
  history.replaceState(null, '', location.pathname);
  // A path can begin with `//`. Without the origin, the browser would read the text after it as another host.
  if (ok) location.replace(location.origin + (sessionStorage.getItem('return-to') ?? '/'));
  else show(body);
}

async function home() {
  let response = await fetch('/auth/sessions/');
  if (response.status === 401 && (await post('/auth/token/refresh/')).ok) response = await fetch('/auth/sessions/');
  element(response.ok ? 'signed-in' : 'signed-out').hidden = false;
  for (const { created_at: createdAt, browser_family: browser } of response.ok ? await response.json() : []) {
    const item = document.createElement('li');
    item.textContent = `${browser}, signed in at ${createdAt}`;
    element('sessions').append(item);
  }
  for (const button of document.querySelectorAll('[data-start]')) button.onclick = () => start(button.dataset.start);
  element('logout').onclick = async () => {
    let answer = await post('/sso/logout');
    if (!answer.ok && (await post('/auth/token/refresh/')).ok) answer = await post('/sso/logout');
    location.assign(answer.body.url ?? '/');
  };
  element('password').onsubmit = async (event) => {
    event.preventDefault();
    const { ok, body } = await post('/auth/login/', Object.fromEntries(new FormData(event.target)));
    if (ok) location.reload();
    else show(body);
  };
}

if (location.pathname === '/sso/callback') void finish();
else void home();
