// The tokens are kept in memory until the page is closed. `textContent` does not interpret HTML.
let ticket = '';
let accessToken = '';

const element = (id) => document.getElementById(id);
const show = (...ids) => {
  for (const id of ['login', 'second', 'account']) element(id).hidden = !ids.includes(id);
};

async function post(path, body) {
  const headers = { 'Content-Type': 'application/json' };
  if (accessToken) headers.Authorization = `Bearer ${accessToken}`;
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : {};
  element('message').textContent = response.ok ? '' : (answer.detail ?? answer.message ?? 'Something went wrong.');
  return { isOk: response.ok, answer };
}

function signedIn(answer) {
  accessToken = answer.accessToken;
  show('account');
}

function showCodes({ recoveryCodes }) {
  element('codes').textContent = `Keep these recovery codes:\n${recoveryCodes.join('\n')}`;
}

function onSubmit(id, submit) {
  element(id).addEventListener('submit', (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.target));
    event.target.reset();
    void submit(values);
  });
}

onSubmit('login', async ({ username, password }) => {
  const { isOk, answer } = await post('/login', { username, password });
  if (isOk) return signedIn(answer);
  ticket = answer.login_ticket ?? '';
  if (ticket) show('second');
});

onSubmit('second', async ({ code, trust }) => {
  const { isOk, answer } = await post('/login/code', { ticket, code, trust: trust === 'on' });
  if (isOk) signedIn(answer);
  else if (answer.non_field_errors) show('login'); // the ticket is no longer valid
});

function hideSecret() {
  element('confirm').hidden = true;
  element('qr').removeAttribute('src');
  element('uri').textContent = '';
}

element('enroll').addEventListener('click', async () => {
  const { isOk, answer } = await post('/second-factor/enroll', {});
  element('confirm').hidden = !isOk;
  if (!isOk) return;
  element('qr').src = answer.qrCode;
  element('uri').textContent = answer.uri;
});

onSubmit('confirm', async ({ code }) => {
  const { isOk, answer } = await post('/second-factor/confirm', { code });
  if (!isOk) return;
  signedIn(answer);
  hideSecret();
  showCodes(answer);
});

// The server requires a code within the last five minutes, and a newer code.
onSubmit('renew', async ({ code }) => {
  const { isOk, answer } = await post('/second-factor/recovery-codes', { code });
  if (isOk) showCodes(answer);
});

onSubmit('disable', async ({ code }) => {
  const { isOk } = await post('/second-factor/disable', { code });
  if (isOk) element('codes').textContent = '';
});

element('logout').addEventListener('click', async () => {
  await post('/auth/logout', {});
  accessToken = '';
  element('codes').textContent = '';
  hideSecret();
  show('login');
});
