/** The answer of a port's `/health/ready`. That of the admin port has more detail. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects
export async function readinessOf(url: string): Promise<any> {
  return (await fetch(`${url}/health/ready`)).json();
}
