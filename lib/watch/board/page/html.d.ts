/** A page in five parts: its style is the second, its script the fourth; see tools/page.mjs. */
declare module '*.html.js' {
  const parts: readonly [string, style: string, string, script: string, string];
  export default parts;
}
