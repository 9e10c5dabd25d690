// Help while typing: completion, the errors beside a line, search, descriptions read as Markdown. A query is typed and run without it,
// so its code comes last.
import 'codemirror-graphql/esm/hint.js';
import 'codemirror-graphql/esm/lint.js';
import 'codemirror-graphql/esm/variables/hint.js';
import 'codemirror-graphql/esm/variables/lint.js';
import 'codemirror/addon/comment/comment.js';
import 'codemirror/addon/dialog/dialog.js';
import 'codemirror/addon/search/jump-to-line.js';
import 'codemirror/addon/search/search.js';
import MarkdownIt from 'markdown-it';
import { renderWith } from './markdown.js';

renderWith(new MarkdownIt({ breaks: false, linkify: true }));
