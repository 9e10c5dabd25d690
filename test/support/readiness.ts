/** What a port of the service says of its readiness: the admin port says more. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever it expects
export async function readinessOf(url: string): Promise<any> {
  return (await fetch(`${url}/health/ready`)).json();
}
