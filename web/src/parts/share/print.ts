// The print view of a game: its moves with variations, comments and diagrams.
import type { Node } from '../../api/wire';
import { moveText } from '../../i18n/format';
import type { Game } from '../../store/apply';
import { lineFrom, lineNumber, mainLine, nagText, nagsOf } from '../../store/tree';
import { drawn, type Diagram } from './diagram';

/** Plies between two diagrams. */
const DISTANCE = 16;

/** A line with its comments, and the variations of all moves but the first. */
function lineText(game: Game, line: Node[]): string {
  let numbered = true;
  const parts = line.map((node, index) => {
    const number = lineNumber(game, node.ply, numbered ? 0 : 1);
    const parent = node.parent === null ? undefined : game.nodes.get(node.parent);
    const variations = index === 0 ? [] : (parent?.children.slice(1) ?? []);
    const notes = [...node.comments, ...variations.map((id) => variationText(game, id))];
    numbered = notes.length > 0;
    return [...node.before, `${number} ${moveText(node.text)}${nagText(nagsOf(node))}`.trim(), ...notes].join(
      ' ',
    );
  });
  return parts.join(' ');
}

function variationText(game: Game, id: number): string {
  const first = game.nodes.get(id);
  return first ? `(${lineText(game, [first, ...lineFrom(game, id)])})` : '';
}

/** Moves of the main line up to each diagram, which follows them. */
export function sections(game: Game): { text: string; ply: number }[] {
  const line = mainLine(game);
  const stops = new Set([...line.keys()].filter((index) => (index + 1) % DISTANCE === 0));
  stops.add(line.length - 1);
  const current = line.findIndex((node) => node.id === game.cursor);
  if (current >= 0) stops.add(current);
  let start = 0;
  return [...stops]
    .toSorted((a, b) => a - b)
    .map((stop) => {
      const part = line.slice(start, stop + 1);
      start = stop + 1;
      const [first] = part;
      const parent = first?.parent === null ? undefined : game.nodes.get(first?.parent ?? 0);
      // The variations of the first move of a part precede the others.
      const others = parent?.children.slice(1).map((id) => variationText(game, id)) ?? [];
      const text = first ? [lineText(game, [first]), ...others, lineText(game, part.slice(1))].join(' ') : '';
      return { text, ply: stop + 1 };
    });
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

/** Prints the text of a record, with its blank lines between paragraphs. */
export function printText(title: string, text: string) {
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim());
  printSheet([element('h1', title), ...paragraphs.map((part) => element('p', part))]);
}

function printSheet(elements: Element[]) {
  const sheet = document.createElement('section');
  sheet.className = 'sheet';
  sheet.append(...elements);
  document.querySelector('.sheet')?.remove();
  document.body.append(sheet);
  addEventListener('afterprint', () => sheet.remove(), { once: true });
  print();
}

/** Prints a game. `diagramAt` returns the diagram of the main line after a number of plies. */
export async function printGame(
  game: Game,
  [title, details]: [title: string, details: string],
  diagramAt: (ply: number) => Diagram,
) {
  const parts: Element[] = [element('h1', title), element('p', details)];
  for (const { text, ply } of sections(game)) {
    if (text) parts.push(element('p', text));
    parts.push(await drawn(diagramAt(ply)));
  }
  printSheet(parts);
}
