import { useActionState } from 'react';
import { signIn, useSession } from './session.ts';

export function SignInForm() {
  const { notice } = useSession();
  const [, submit, isPending] = useActionState(async (_: null, form: FormData) => {
    await signIn({ email: String(form.get('email')), password: String(form.get('password')) });
    return null;
  }, null);
  return (
    <form action={submit} className="sign-in card">
      <h1>Sign in</h1>
      {notice !== null && <p role="alert">{notice}</p>}
      <label>
        E-mail
        <input name="email" type="email" autoComplete="username" defaultValue="demo@example.com" />
      </label>
      <label>
        Password
        <input
          name="password"
          type="password"
          autoComplete="current-password"
          defaultValue="demo"
        />
      </label>
      <button type="submit" disabled={isPending}>
        {isPending ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  );
}
