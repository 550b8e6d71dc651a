type Upload = { readonly sandboxSessionId: string; readonly conversationId: string; readonly file: File };

/** The functions of the front end that the chat platform shows its users; what a browser does with an answer is left out, and types are added. */
export function platformFiles(SANDBOX_API_URL: string) {
  return {
    generateSessionId: (userId: string) => `sb-session-${userId}`,
    async uploadFile(wanted: Upload): Promise<unknown> {
      const { sandboxSessionId, conversationId, file: selected } = wanted;
      const formData = new FormData();
      formData.append("file", selected);
      formData.append("conversation_id", conversationId);
      formData.append("subdir", "temparea");
      const response = await fetch(`${SANDBOX_API_URL}/api/v1/sessions/${sandboxSessionId}/files/upload`, {
        method: "POST",
        body: formData,
      });
      if (!response.ok) throw new Error(`Upload failed: ${response.statusText}`);
      return response.json();
    },
    async listTempAreaFiles({ sandboxSessionId, conversationId }: Omit<Upload, "file">): Promise<unknown> {
      const response = await fetch(`${SANDBOX_API_URL}/api/v1/sessions/${sandboxSessionId}/files`, {
        method: "GET",
        headers: { conversation_id: conversationId, subdir: "temparea" },
      });
      if (!response.ok) throw new Error(`List files failed: ${response.statusText}`);
      const data: { files: unknown } = JSON.parse(await response.text());
      return data.files;
    },
    async downloadFile(wanted: { sandboxSessionId: string; fileName: string }): Promise<string> {
      const { sandboxSessionId, fileName } = wanted;
      const response = await fetch(`${SANDBOX_API_URL}/api/v1/sessions/${sandboxSessionId}/files/${fileName}`, {
        method: "GET",
      });
      if (!response.ok) throw new Error(`Download failed: ${response.statusText}`);
      return (await response.blob()).text();
    },
  };
}
