// Where users get engines for the system of the server.
import type { Machine } from '../../api/wire';
import type { Key } from '../../i18n/en';

export interface Source {
  name: string;
  text: Key;
  page: string;
  /** Installs the package of the system, if it has one. */
  command: string | null;
}

/** Package managers whose repositories have Stockfish, by system or distribution. */
const INSTALL = new Map(
  Object.entries({
    debian: 'sudo apt install stockfish',
    ubuntu: 'sudo apt install stockfish',
    fedora: 'sudo dnf install stockfish',
    arch: 'sudo pacman -S stockfish',
    suse: 'sudo zypper install stockfish',
    opensuse: 'sudo zypper install stockfish',
    alpine: 'doas apk add stockfish',
    nixos: 'nix profile install nixpkgs#stockfish',
    macos: 'brew install stockfish',
  }),
);

export function sourcesFor({ system, distributions }: Machine): Source[] {
  const names = system === 'linux' ? distributions : [system];
  const command = names.map((name) => INSTALL.get(name)).find(Boolean) ?? null;
  return [
    { name: 'Stockfish', text: 'get.stockfish', page: 'https://stockfishchess.org/download/', command },
    {
      name: 'YaneuraOu',
      text: 'get.yaneuraou',
      page: 'https://github.com/yaneurao/YaneuraOu/releases',
      command: null,
    },
  ];
}
