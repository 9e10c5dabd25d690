import { useActionState } from 'react';
import { signIn } from './session.ts';

export function SignIn() {
  const [problem, submit, isPending] = useActionState(
    async (_former: string | null, form: FormData): Promise<string | null> => {
      try {
        return await signIn({ email: `${form.get('email')}`, password: `${form.get('password')}` });
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    null,
  );
  return (
    <main className="sign-in">
      <form className="card" action={submit}>
        <h1>Trading Graph</h1>
        <p>The demo user of the sandbox gateway is filled in.</p>
        <label>
          E-mail
          <input
            name="email"
            type="email"
            autoComplete="username"
            required
            defaultValue="demo@example.com"
          />
        </label>
        <label>
          Password
          <input
            name="password"
            type="password"
            autoComplete="current-password"
            required
            defaultValue="demo"
          />
        </label>
        <button type="submit" className="main" disabled={isPending}>
          {isPending ? 'Signing in…' : 'Sign in'}
        </button>
        {problem !== null && (
          <p role="alert" className="problem">
            {problem}
          </p>
        )}
      </form>
    </main>
  );
}
