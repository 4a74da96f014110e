import { tokenizer } from 'acorn';

/** Code indented by two instead of the compiler's four, outside of templates: it is a twelfth of the package. */
export function narrow(code) {
  let narrowed = '';
  let from = 0;
  for (const { type, start, end } of tokenizer(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
  })) {
    if (type.label !== 'template') continue;
    narrowed += halved(code.slice(from, start)) + code.slice(start, end);
    from = end;
  }
  return narrowed + halved(code.slice(from));
}

function halved(code) {
  return code.replaceAll(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2));
}
