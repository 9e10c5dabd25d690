/** The site serves the library beside its scripts. */
export { default } from 'minisearch';
