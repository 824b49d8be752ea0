// Builds readyok.wasm and extras.wasm next to this script, and the package in dist/.
// Needs the target wasm32-unknown-unknown and the component rust-src of rustup; binaryen and esbuild come from npm.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target', 'js');

/** The maximum sizes of `readyok.wasm` with the script, compressed. */
const LIMITS = { gzip: 250_000, brotli: 215_000 };
/** What Safari 15 and other browsers of 2021 have. */
const FEATURES = ['bulk-memory', 'bulk-memory-opt', 'multivalue', 'mutable-globals', 'nontrapping-float-to-int'];
const ENABLED = [...FEATURES, 'reference-types', 'sign-ext'].map((name) => `--enable-${name}`);

const run = (program, args, options = {}) => execFileSync(program, args, { stdio: ['ignore', 2, 2], ...options });
const tool = (name, ...args) => run(process.execPath, [join(here, 'node_modules/binaryen/bin', name), ...args]);

/** Compiles the crate with the standard library, for size and without texts of panics, which no one would read. */
function compile(features) {
  run('cargo', [
    ...['rustc', '--locked', '--package', 'readyok-wasm', '--lib', '--crate-type', 'cdylib'],
    ...['--no-default-features', '--features', features],
    ...['--profile', 'wasm', '--target', 'wasm32-unknown-unknown', '--target-dir', target],
    ...['-Zbuild-std=std,panic_abort', '-Zbuild-std-features=optimize_for_size'],
  ], {
    cwd: root,
    env: {
      ...process.env,
      // Unstable flags with the stable compiler.
      RUSTC_BOOTSTRAP: '1',
      RUSTFLAGS: `-Zunstable-options -Cpanic=immediate-abort --remap-path-prefix=${root}=.`,
    },
  });
  // The next call replaces the file.
  const file = join(target, `${features}.wasm`);
  copyFileSync(join(target, 'wasm32-unknown-unknown/wasm/readyok_wasm.wasm'), file);
  return file;
}

/**
 * Replaces the table of random numbers of the hash keys, 20 kB that no algorithm compresses, by a start function that
 * fills it. It is that of `rsshogi`: an xorshift64* generator, of whose numbers every fourth is a key.
 */
function withoutTable(file) {
  const [PIECES, SQUARES] = [32, 81];
  const table = new BigUint64Array(PIECES * (SQUARES + 1));
  const mask = (1n << 64n) - 1n;
  let state = 20_151_225n;
  let after = 0n;
  const next = () => {
    let key;
    for (let draw = 0; draw < 4; draw++) {
      state ^= state >> 12n;
      state ^= (state << 25n) & mask;
      state ^= state >> 27n;
      key ??= (state * 2_685_821_657_736_338_717n) & mask;
    }
    return key;
  };
  // Two keys of other properties precede the board.
  next();
  next();
  after = state;
  for (let piece = 1; piece < PIECES; piece++)
    for (let square = 0; square < SQUARES; square++) table[piece * (SQUARES + 1) + square] = next();

  const bytes = readFileSync(file);
  const first = SQUARES + 1;
  const keys = Buffer.from(table.buffer, first * 8);
  const start = bytes.indexOf(keys);
  if (start < 0) throw new Error(`${file} does not contain the table of keys: was rsshogi updated?`);
  const address = addressOf(bytes, start);
  bytes.fill(0, start, start + keys.length);
  writeFileSync(`${file}.zeroed`, bytes);
  const fill = `(module
    (import "main" "memory" (memory 0))
    (start $fill)
    (func $fill (local $state i64) (local $at i32) (local $draw i32)
      (local.set $state (i64.const ${BigInt.asIntN(64, after)}))
      (local.set $at (i32.const ${address}))
      (loop $next
        ;; The last square of each piece has no key.
        (if (i32.ne (i32.rem_u (i32.sub (local.get $at) (i32.const ${address})) (i32.const ${first * 8})) (i32.const ${SQUARES * 8})) (then
          (local.set $draw (i32.const 4))
          (loop $draws
            (local.set $state (i64.xor (local.get $state) (i64.shr_u (local.get $state) (i64.const 12))))
            (local.set $state (i64.xor (local.get $state) (i64.shl (local.get $state) (i64.const 25))))
            (local.set $state (i64.xor (local.get $state) (i64.shr_u (local.get $state) (i64.const 27))))
            (if (i32.eq (local.get $draw) (i32.const 4))
              (then (i64.store (local.get $at) (i64.mul (local.get $state) (i64.const 2685821657736338717)))))
            (br_if $draws (local.tee $draw (i32.sub (local.get $draw) (i32.const 1)))))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $next (i32.lt_u (local.get $at) (i32.const ${address + keys.length}))))))`;
  writeFileSync(`${file}.wat`, fill);
  tool('wasm-as', ...ENABLED, `${file}.wat`, '-o', `${file}.fill`);
  tool('wasm-merge', ...ENABLED, `${file}.zeroed`, 'main', `${file}.fill`, 'fill', '-o', `${file}.merged`);
  return `${file}.merged`;
}

/** The address in memory of an offset in the data of a module. */
function addressOf(bytes, offset) {
  let at = 8;
  const number = () => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte < 128) return value;
    }
  };
  for (;;) {
    const id = bytes[at++];
    const end = number() + at;
    if (id !== 11) {
      at = end;
      continue;
    }
    for (let count = number(); count > 0; count--) {
      // An active segment: 0, `i32.const`, the address, `end`, the length.
      if (number() !== 0 || bytes[at++] !== 0x41) throw new Error('a segment of another kind');
      const address = number();
      at++;
      const length = number();
      if (offset < at + length) return address + offset - at;
      at += length;
    }
  }
}

function optimize(from, to) {
  tool('wasm-opt', '-Oz', ...ENABLED, '--skip-pass=memory-packing', '--skip-pass=inlining-optimizing',
    '--strip-debug', '--strip-producers', '--strip-target-features', from, '-o', to);
}

optimize(withoutTable(compile('records')), join(here, 'readyok.wasm'));
optimize(compile('extras'), join(here, 'extras.wasm'));

// The package: one script for each entry.
const dist = join(here, 'dist');
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
run(process.execPath, [
  join(here, 'node_modules/esbuild/bin/esbuild'),
  ...['index.js', 'extras.js', '--bundle', '--splitting', '--chunk-names=rules', '--format=esm', '--minify'],
  ...['--target=es2022', '--external:node:*', '--outdir=dist', '--log-level=warning'],
], { cwd: here });
const { scripts: _, devDependencies: __, ...manifest } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const [, version] = /^version = "(.+)"$/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'));
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
for (const file of ['README.md', 'index.d.ts', 'extras.d.ts', 'names.d.ts', 'readyok.wasm', 'extras.wasm'])
  copyFileSync(join(here, file), join(dist, file));
copyFileSync(join(root, 'LICENSE-GPL'), join(dist, 'LICENSE'));

const files = ['index.js', 'rules.js'].map((file) => readFileSync(join(dist, file)));
const shipped = [readFileSync(join(dist, 'readyok.wasm')), Buffer.concat(files)];
const sizes = {
  gzip: shipped.map((bytes) => gzipSync(bytes, { level: 9 }).length),
  brotli: shipped.map((bytes) => brotliCompressSync(bytes).length),
};
for (const [name, parts] of Object.entries(sizes)) {
  const sum = parts.reduce((all, part) => all + part);
  console.log(`${name}: ${sum} bytes (module ${parts[0]}, script ${parts[1]}), at most ${LIMITS[name]}`);
  if (sum > LIMITS[name]) process.exitCode = 1;
}
