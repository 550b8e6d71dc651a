import { z } from "zod";

// Imported before all schemas: they would otherwise be compiled with `new Function`, which the page's policy forbids.
z.config({ jitless: true });
