/** Posts JSON. The browser stores and sends the cookies, and no script can read a token. */
async function post(path, body = {}) {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  return { isOk: response.ok, status: response.status, ...(text ? JSON.parse(text) : {}) };
}

/** Asks an authenticator to sign a new challenge, and posts the response of the authenticator. */
async function respond(path, extra = {}) {
  const options = PublicKeyCredential.parseRequestOptionsFromJSON(await post('/passkeys/options'));
  const credential = await navigator.credentials.get({ publicKey: options });
  return post(path, { ...credential.toJSON(), ...extra });
}

const actions = {
  login: () => respond('/passkeys/login'),

  async password() {
    const result = await post('/auth/login', Object.fromEntries(new FormData(element('password'))));
    const { code, login_ticket: ticket } = result;
    return code === 'second_factor_required' ? respond('/passkeys/second-factor', { ticket }) : result;
  },

  async register() {
    const options = await post('/passkeys/registration/options');
    if (!options.isOk) return options;
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    const credential = await navigator.credentials.create({ publicKey });
    return post('/passkeys/registration', credential.toJSON());
  },

  confirm: () => respond('/passkeys/confirmation'),
  payout: () => post('/passkeys/payout'),
  logout: () => post('/auth/logout'),
};

const element = (id) => document.getElementById(id);

async function show() {
  let { ok } = await fetch('/auth/sessions');
  if (!ok && (await post('/auth/token/refresh')).isOk) ({ ok } = await fetch('/auth/sessions'));
  element('signed-in').hidden = !ok;
  element('signed-out').hidden = ok;
}

async function run(name) {
  const status = document.querySelector('[role=status]');
  status.textContent = '';
  const result = await actions[name]().catch((error) => ({ status: error.name }));
  await show();
  status.textContent = `${name}: ${result.isOk ? 'done' : (result.code ?? result.status)}`;
}

for (const name of Object.keys(actions)) {
  element(name).addEventListener(name === 'password' ? 'submit' : 'click', (event) => {
    event.preventDefault();
    void run(name);
  });
}
await show();
