/** In the site the library is served beside the scripts. */
export { default } from 'minisearch';
