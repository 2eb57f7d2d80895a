const status = document.querySelector('[role=status]');

/** Opens the form of a link. Links in emails end in `/#sign-up=<token>` or `/#password-reset=<token>`. */
const openLink = () => {
  const [link, token] = location.hash.slice(1).split('=');
  const form = token && document.querySelector(`form[data-link="${CSS.escape(link)}"]`);
  if (!form) return;
  // Removes the token from the browser's history.
  history.replaceState(null, '', '/');
  for (const other of document.forms) other.hidden = other !== form;
  form.elements.namedItem('token').value = token;
};

const MESSAGES = {
  '/sign-up': 'We are sending you an email. The server prints it if SMTP_URL is not set.',
  '/password-reset': 'We are sending you an email. The server prints it if SMTP_URL is not set.',
  '/sign-up/complete': 'Your account is ready. Sign in.',
  '/password-reset/complete': 'Your password was changed. Sign in.',
  '/auth/login/': 'You are signed in.',
};

const submit = async (event) => {
  event.preventDefault();
  const form = event.target;
  const { path } = form.dataset;
  const body = JSON.stringify(Object.fromEntries(new FormData(form)));
  const response = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  const text = await response.text();
  // `textContent` does not interpret HTML.
  status.textContent = response.ok ? MESSAGES[path] : text;
  if (!response.ok) return;
  form.reset();
  for (const other of document.forms) other.hidden = 'link' in other.dataset;
};

openLink();
addEventListener('hashchange', openLink);
for (const form of document.forms) form.addEventListener('submit', submit);
