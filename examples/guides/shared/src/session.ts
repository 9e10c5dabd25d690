/** Signs in anew; null where that is refused. Throws where nobody could be asked, which is tried again later. */
type SignInAgain = () => Promise<string | null>;

// Stands for the app's own session: here it lives as long as the page, and with it what signs in again.
let token: string | null = null;
let again: SignInAgain | null = null;

export function keepToken(given: string | null, signInAgain: SignInAgain | null = null): void {
  token = given;
  again = given === null ? null : signInAgain;
}

// With `force` the server has refused the last token, as it does with each that ends: the user need not hear of it.
// Null gives up, and signs out.
export async function freshToken({ force }: { force: boolean }): Promise<string | null> {
  if (!force) return token;
  const asked = again;
  const fresh = (await asked?.()) ?? null;
  // Somebody else may have signed in meanwhile, or nobody.
  if (asked === again) token = fresh;
  return token;
}

export function signedOut(): void {
  keepToken(null);
  // Show the form of the sign-in here.
}
