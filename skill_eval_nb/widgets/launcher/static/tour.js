// A tile in JupyterLab's launcher that opens the tour. This is all of the extension: what a bundler
// would make of it is what JupyterLab asks for, `init` with what it shares and `get` of a plugin.

(() => {
  const TOUR = "skill-eval-nb:tour";
  const ICON =
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><g stroke-width="2.4">' +
    '<path stroke="#808080" d="M4 4v16"/><path stroke="#0072b2" d="M8 8.5h13"/>' +
    '<path stroke="#e69f00" d="M5 15.5h10"/></g><circle cx="15" cy="8.5" r="3" fill="#0072b2"/>' +
    '<circle cx="9.5" cy="15.5" r="3" fill="#e69f00"/></svg>';
  let shared = {};

  async function taken(name) {
    const found = Object.values(shared[name] ?? {}).at(-1);
    return found && (await found.get())();
  }

  // Where the tour is, as Python says: it is copied beside the reader's own where it is not yet.
  async function found({ serviceManager }, cwd) {
    const { kernelspecs, sessions, contents } = serviceManager;
    const path = `${contents.localPath(cwd)}/${TOUR.replace(":", "-")}-${Date.now()}`;
    const kernel = { name: kernelspecs.specs?.default };
    const session = await sessions.startNew({ path, name: TOUR, type: "console", kernel });
    try {
      const { content } = await session.kernel.requestExecute({
        code: "from skill_eval_nb.share import tour",
        user_expressions: { at: "tour().as_posix()" },
        store_history: false,
      }).done;
      const { at } = content.user_expressions ?? {};
      if (at?.status === "ok") return at.data["text/plain"].slice(1, -1);
      throw new Error((at ?? content).evalue);
    } finally {
      await session.shutdown();
      session.dispose();
    }
  }

  async function plugin() {
    const [launching, look, pages] = await Promise.all(
      ["launcher", "ui-components", "apputils"].map((name) => taken(`@jupyterlab/${name}`)),
    );
    const optional = launching ? [launching.ILauncher] : [];

    function activate(app, launcher) {
      app.commands.addCommand(TOUR, {
        label: "Skill evaluation tour",
        caption: "Does your agent skill really help? The notebooks, on bundled data or your own",
        icon: look && new look.LabIcon({ name: TOUR, svgstr: ICON }),
        execute: async ({ cwd = "" }) => {
          try {
            const path = [cwd, await found(app, cwd)].filter(Boolean).join("/");
            return await app.commands.execute("docmanager:open", { path });
          } catch (error) {
            return pages.showErrorMessage("The tour could not be opened", error);
          }
        },
      });
      launcher?.add({ command: TOUR, category: "Other", rank: 9 });
    }

    return { id: TOUR, autoStart: true, optional, activate };
  }

  (window._JUPYTERLAB ??= {})["skill-eval-nb"] = {
    init: (scope) => void (shared = scope),
    get: async () => {
      const made = await plugin();
      return () => made;
    },
  };
})();
