/** The text of the script, includes and all: see tools/lua.mjs. */
declare module '*.lua.js' {
  const source: string;
  export default source;
}
