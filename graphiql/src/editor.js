// What an editor needs to be typed in. GraphiQL asks for each of these parts by itself, always for all.
import CodeMirror from 'codemirror';
import 'codemirror-graphql/esm/info.js';
import 'codemirror-graphql/esm/jump.js';
import 'codemirror-graphql/esm/mode.js';
import 'codemirror-graphql/esm/results/mode.js';
import 'codemirror-graphql/esm/utils/info-addon.js';
import 'codemirror-graphql/esm/variables/mode.js';
import 'codemirror/addon/edit/closebrackets.js';
import 'codemirror/addon/edit/matchbrackets.js';
import 'codemirror/addon/fold/brace-fold.js';
import 'codemirror/addon/fold/foldgutter.js';
import 'codemirror/addon/hint/show-hint.js';
import 'codemirror/addon/lint/lint.js';
import 'codemirror/addon/search/searchcursor.js';
import 'codemirror/keymap/sublime.js';
import 'codemirror/mode/javascript/javascript.js';

export default CodeMirror;
