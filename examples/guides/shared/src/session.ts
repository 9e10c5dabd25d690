// Stands for the app's own session: here the token lives as long as the page.
let token: string | null = null;

export function keepToken(given: string | null): void {
  token = given;
}

// With `force` the server has refused the last token: fetch a new one of your identity service here.
// Null gives up, and signs out.
export async function freshToken({ force }: { force: boolean }): Promise<string | null> {
  return force ? null : token;
}

export function signedOut(): void {
  token = null;
  // Show the form of the sign-in here.
}
