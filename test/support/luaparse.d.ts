declare module 'luaparse' {
  /** A part of the syntax tree: its type, and what it is made of by name. */
  export interface Node {
    readonly type: string;
    readonly range: readonly [number, number];
    readonly [part: string]: unknown;
  }
  const luaparse: {
    parse(source: string, options: { ranges: true; luaVersion: '5.1'; comments: false }): Node;
    /** The names that no line declares. */
    parse(
      source: string,
      options: { scope: true; luaVersion: '5.1' },
    ): { readonly globals: readonly { readonly name: string }[] };
  };
  export default luaparse;
}
