import { outcomes } from './app.js';

console.log(JSON.stringify(await outcomes()));
