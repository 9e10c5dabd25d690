interface ImportMeta {
  readonly env: { readonly VITE_GRAPHQL_URL: string };
}
