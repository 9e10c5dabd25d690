interface ImportMeta {
  readonly env: { readonly VITE_GRAPHQL_URL: string };
}

/** Its types are checked with settings of its own. */
declare module 'the-example';
