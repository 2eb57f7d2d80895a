'use client';
import { AuthClient, ClientError } from 'nestjs-session-auth-client';
import { SessionProvider, useSession } from 'nestjs-session-auth-client/react';
import { useState, type FormEvent } from 'react';

export interface User {
  readonly username: string;
}

const client = new AuthClient({ authPath: 'api/auth', transport: 'cookie' });

/** @param props `user`: the user that the server has loaded, if any */
export function Account({ user }: { readonly user?: User | undefined }) {
  return (
    <SessionProvider client={client} loadUser="/api/me" initialUser={user}>
      <Session />
    </SessionProvider>
  );
}

function Session() {
  const { status, user, reason, reload } = useSession<User>();
  if (status === 'loading') return <p>Loading</p>;
  if (status === 'failed') return <button onClick={reload}>Try again</button>;
  if (status === 'signedOut') return <SignIn hasEnded={reason === 'signedOutElsewhere'} />;
  return (
    <>
      <p>{`Signed in as ${user.username}`}</p>
      <button onClick={reload}>Reload</button>
      <button onClick={() => client.logout()}>Sign out</button>
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
