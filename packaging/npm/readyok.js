#!/usr/bin/env node
// Runs the executable of the package for this platform.
'use strict';

const { spawn } = require('node:child_process');

const name = `@readyok/${process.platform}-${process.arch}`;
const file = process.platform === 'win32' ? 'readyok.exe' : 'readyok';
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(`readyok: there is no executable for ${process.platform} ${process.arch} (package ${name})`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// The terminal sends signals to the child, too; this process waits for its exit status.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT') child.kill(signal);
  });
}
child.on('error', (error) => {
  console.error(`readyok: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code ?? 1);
  }
});
