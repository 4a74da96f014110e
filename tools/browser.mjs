import { spawnSync } from 'node:child_process';
import { chromium } from 'playwright-core';

/** Debian's name of the browser, as program and as package. */
const NAME = 'chromium';

/** Opens a headless Chromium: that of the variable CHROMIUM, else the one on the PATH, which is installed where that needs no question. */
export function openBrowser() {
  const executablePath = process.env.CHROMIUM ?? found() ?? installed();
  // Chromium's sandbox does not run as root, and only pages of our own are opened.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

function found() {
  const { stdout, status } = spawnSync('which', [NAME], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

function installed() {
  spawnSync(process.execPath, ['tools/install-debian.mjs', NAME], { stdio: 'inherit' });
  const path = found();
  if (path) return path;
  throw new Error('There is no Chromium: install one, or name it in the variable CHROMIUM.');
}
