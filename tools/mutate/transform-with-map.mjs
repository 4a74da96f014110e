// Jest's transform of TypeScript while reach is recorded: the code says itself from which lines it comes.
import swc from '@swc/jest';

const { process: transform } = swc.createTransformer({});

export default {
  process(source, path, options) {
    const { code, map } = transform(source, path, options);
    const json = typeof map === 'string' ? map : JSON.stringify(map);
    const encoded = Buffer.from(json).toString('base64');
    return { code: `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}\n` };
  },
};
