import { QueryClientProvider, useQuery } from '@tanstack/react-query';
import { ClientError } from 'nestjs-session-auth-client';
import { SessionProvider, useSession } from 'nestjs-session-auth-client/react';
import { useState, type FormEvent } from 'react';
import { createRoot } from 'react-dom/client';
import { api, queries } from './api';
import { client } from './client';

interface User {
  readonly username: string;
}

function Page() {
  const { status, user, reason, reload } = useSession<User>();
  if (status === 'loading') return <p>Loading</p>;
  if (status === 'failed') return <button onClick={reload}>Try again</button>;
  if (status === 'signedOut') return <SignIn hasEnded={reason === 'signedOutElsewhere'} />;
  return (
    <>
      <p>Signed in as {user.username}</p>
      <Devices />
      <button onClick={() => client.logout()}>Sign out</button>
    </>
  );
}

function Devices() {
  const { data, error, refetch } = useQuery({
    queryKey: ['devices'],
    queryFn: async () => (await api.get<{ id: string; browser_family: string }[]>('/auth/sessions')).data,
  });
  return (
    <>
      <ul>
        {data?.map(({ id, browser_family }) => (
          <li key={id}>{browser_family}</li>
        ))}
      </ul>
      {error && <p role="alert">{error.message}</p>}
      <button onClick={() => refetch()}>Reload</button>
    </>
  );
}

function SignIn({ hasEnded }: { readonly hasEnded: boolean }) {
  const [message, setMessage] = useState(hasEnded ? 'Your session has ended.' : '');

  async function signIn(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    try {
      await client.login(String(form.get('username')), String(form.get('password')));
    } catch (error) {
      setMessage(error instanceof ClientError ? error.detail : 'Something went wrong.');
    }
  }

  return (
    <form onSubmit={signIn}>
      <label>
        Name <input name="username" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button>Sign in</button>
      <p role="alert">{message}</p>
    </form>
  );
}

createRoot(document.getElementById('root')!).render(
  <SessionProvider client={client} loadUser="/api/me">
    <QueryClientProvider client={queries}>
      <Page />
    </QueryClientProvider>
  </SessionProvider>,
);
