// npm install <git url> takes what this leaves: npm installs in a clone of its own then, and says so by this variable.
// In a developer's clone nothing is built: npm ci stays quick.
if (process.env._PACOTE_NO_PREPARE_) await import('./build.mjs');
