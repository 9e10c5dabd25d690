// The app asks for it at once.
Object.assign(globalThis, { graphqlUrl: import.meta.env.VITE_GRAPHQL_URL });
await import('the-example');

export {};
